// What a plan says of the second images of its stages. Internal to the planner.
#pragma once

#include "pipeline/plan/cost.hpp"

namespace sepconv {

/// For a plan that has everything else: what the run reads of each. On the CPU rows that neighbouring bands
/// share are read once; a GPU gets them with each band.
std::vector<SecondaryRead> secondary_reads(const PlanProblem& problem, const Plan& plan, const Tiling& cut);

/// What is to be said of them.
std::vector<std::string> secondary_notes(const PlanProblem& problem, const Plan& plan);
std::vector<std::string> secondary_warnings(const PlanProblem& problem);

}  // namespace sepconv
