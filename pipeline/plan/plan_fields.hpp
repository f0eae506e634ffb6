// The fields of a plan that was stored, each checked when it is read. Internal to the planner.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "pipeline/plan/plan.hpp"

namespace sepconv::stored_plan {

/// Throws InvalidArgument for what is not JSON, as all of these do for what is not what it should be.
nlohmann::json parsed(std::string_view text);

/// Throws that the plan cannot be read because of this.
[[noreturn]] void fail(std::string_view fact);
/// A value in a sentence.
std::string brief(const nlohmann::json& value);
/// The first of what two that are not alike do not have in common, each value so cut that one sees it.
struct Difference {
  std::string place, then, now;
};
Difference first_difference(const nlohmann::json& then, const nlohmann::json& now);
std::string word(const nlohmann::json& value, const char* what);
const nlohmann::json& field(const nlohmann::json& object, const char* key);
const nlohmann::json& list_at(const nlohmann::json& object, const char* key);

/// What the plan was made with.
PlanOptions asked_of(const nlohmann::json& all);
/// What the planner is to choose among: nothing.
PlanOptions cut_of(const nlohmann::json& all, const PlanOptions& asked);
RasterAxes axes_of(const nlohmann::json& all);

}  // namespace sepconv::stored_plan
