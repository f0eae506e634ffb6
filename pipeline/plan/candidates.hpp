// The bands that a plan is chosen from. Internal to the planner.
#pragma once

#include <string>
#include <vector>

#include "pipeline/plan/cost.hpp"

namespace sepconv {

/// Groups of bands in the order in which they are to be tried: when the first group's bands are as wide as
/// the result, and one of them serves, no other group is better. Bands of a turned result are one group.
/// Throws InvalidArgument when source or sink cannot be cut as `options` ask.
std::vector<std::vector<Extent>> candidate_bands(const PlanProblem& problem, const PlanOptions& options);

/// One sentence on the bands of a turned result.
std::string explain_transposed(const PlanProblem& problem, const Plan& plan);

}  // namespace sepconv
