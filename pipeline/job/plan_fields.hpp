// Fields of a stored plan, each checked when read. Internal to job/.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "pipeline/plan/plan.hpp"

namespace sepconv::stored_plan {

/// Parses JSON. This and the functions below throw InvalidArgument for invalid input.
nlohmann::json parse_json(std::string_view text);

/// Throws InvalidArgument: the plan cannot be read because of `fact`.
[[noreturn]] void fail(std::string_view fact);
/// A value, shortened for a message.
std::string excerpt_of(const nlohmann::json& value);
/// The first difference of two unequal values: its JSON path, and both values as excerpts that show it.
struct Difference {
  std::string path, before, after;
};
Difference first_difference(const nlohmann::json& saved, const nlohmann::json& current);
std::string string_in(const nlohmann::json& value, const char* what);
const nlohmann::json& field(const nlohmann::json& object, const char* key);
const nlohmann::json& list_at(const nlohmann::json& object, const char* key);

/// The options given to the plan.
PlanOptions requested_options(const nlohmann::json& all);
/// The options that reproduce the plan's tiling: nothing is left to choose.
PlanOptions tiling_options(const nlohmann::json& all, const PlanOptions& asked);
RasterAxes axes_of(const nlohmann::json& all);

}  // namespace sepconv::stored_plan
