// Candidate bands of a plan. Internal to the planner.
#pragma once

#include <string>
#include <vector>

#include "pipeline/plan/cost.hpp"

namespace sepconv {

/// Groups of bands in the order to try. If a band of the first group is as wide as the result and fits, later
/// groups are not better. Bands of a transposed result form one group. Throws InvalidArgument if source or
/// sink cannot be cut as `options` ask.
std::vector<std::vector<Extent>> candidate_bands(const PlanProblem& problem, const PlanOptions& options);

/// One sentence about the bands of a transposed result.
std::string explain_transposed(const PlanProblem& problem, const Plan& plan);

}  // namespace sepconv
