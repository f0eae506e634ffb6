// The cost of a tiling of a product, in memory and in seconds. Internal to the planner.
#pragma once

#include "pipeline/gemm/gemm_plan.hpp"

namespace sepconv {

/// The inputs of the planner that do not depend on the tiling.
struct GemmProblem {
  const Reader& a;
  const Reader& b;
  const Reader* added;
  const Writer& out;
  const MachineModel& machine;
  int multiprocessors;  ///< of the GPU, if any
};

/// Whether the byte counts of panels and tiles fit in 64-bit integers.
bool is_countable(const GemmPlan& plan);

/// Sets the plan's memory fields from its tiling and staging.
void set_memory(const GemmProblem& problem, GemmPlan& plan);

/// Sets the plan's staging. Matrices outside page-locked memory must be staged; panels with short rows are
/// staged if threads gather them faster than the bus copies them. Returns whether a page-locked matrix is
/// staged.
bool choose_staging(const GemmProblem& problem, bool may_stage, GemmPlan& plan);

/// Estimated seconds, for comparing plans.
double gemm_seconds(const GemmProblem& problem, const GemmPlan& plan);

/// Predicted times of a run, without the creation of a GPU context. All other fields of the plan must be set.
Prediction predict(const GemmProblem& problem, const GemmPlan& plan);

}  // namespace sepconv
