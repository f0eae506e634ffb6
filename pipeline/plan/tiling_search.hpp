// Finds the cheapest tiling that fits. Internal to the planner.
#pragma once

#include "pipeline/plan/cost.hpp"
#include "pipeline/plan/memory_limits.hpp"

namespace sepconv {

constexpr std::int64_t kMinArenaBytes = 1 << 20;  ///< minimum limit of a thread's scratch

/// The cheapest tiling that fits. Lowers `problem.max_arena_bytes` if nothing fits otherwise. Throws
/// OutOfMemory with a sufficient ceiling if nothing fits at all.
Tiling best_cut(PlanProblem& problem, const PlanOptions& options, int threads, const Ceilings& ceilings);

/// Multiply-adds if the image is computed as one piece.
double whole_operations(const PlanProblem& problem);

}  // namespace sepconv
