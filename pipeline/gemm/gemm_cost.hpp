// What a way to cut a product costs, in memory and in seconds. Internal to the planner.
#pragma once

#include "pipeline/gemm/gemm_plan.hpp"

namespace sepconv {

/// Everything that is settled before the cut is chosen.
struct GemmProblem {
  const Reader& a;
  const Reader& b;
  const Reader* added;
  const Writer& out;
  const MachineModel& machine;
  int multiprocessors;  ///< of the GPU, if any
};

/// Whether the bytes of panels and tiles can be counted at all.
bool is_countable(const GemmPlan& plan);

/// Sets what the plan holds, from how it is cut and staged.
void set_memory(const GemmProblem& problem, GemmPlan& plan);

/// Files that are not page-locked memory themselves have to be staged, and panels of short rows are if
/// threads do that faster than the bus moves them. Whether something is that need not be.
bool choose_staging(const GemmProblem& problem, bool may_stage, GemmPlan& plan);

/// Estimated seconds; for comparing plans.
double gemm_seconds(const GemmProblem& problem, const GemmPlan& plan);

/// What a run should take, but for a GPU's context, of a plan that has everything else.
Prediction predict(const GemmProblem& problem, const GemmPlan& plan);

}  // namespace sepconv
