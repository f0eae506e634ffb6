// What a plan says of the second images of its stages. Internal to the planner.
#pragma once

#include "sepconv/pipeline/plan/cost.hpp"

namespace sepconv {

/// Of a plan that has everything else: what the run reads of each. On the CPU rows that neighbouring bands
/// share are read once; a GPU gets them with each band.
std::vector<SecondUse> second_uses(const PlanProblem& problem, const Plan& plan, const Cut& cut);

/// What is to be said of them.
std::vector<std::string> second_notes(const PlanProblem& problem, const Plan& plan);
std::vector<std::string> second_warnings(const PlanProblem& problem);

}  // namespace sepconv
