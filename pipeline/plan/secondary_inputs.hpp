// Reads, notes and warnings of a plan about second images. Internal to the planner.
#pragma once

#include "pipeline/plan/cost.hpp"

namespace sepconv {

/// Reads of each second image, for an otherwise complete plan. On the CPU, rows shared by neighbouring bands
/// are read once; on a GPU, once per band.
std::vector<SecondaryRead> secondary_reads(const PlanProblem& problem, const Plan& plan, const Tiling& cut);

/// Notes and warnings about second images.
std::vector<std::string> secondary_notes(const PlanProblem& problem, const Plan& plan);
std::vector<std::string> secondary_warnings(const PlanProblem& problem);

}  // namespace sepconv
