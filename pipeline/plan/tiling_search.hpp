// The cheapest of the cuts that fit. Internal to the planner.
#pragma once

#include "pipeline/plan/cost.hpp"
#include "pipeline/plan/memory_limits.hpp"

namespace sepconv {

constexpr std::int64_t kMinArenaBytes = 1 << 20;  ///< a bound of scratch that is never lowered

/// Lowers `problem.max_arena_bytes` where nothing fits otherwise. Throws OutOfMemory, with a ceiling that is
/// enough, where nothing fits at all.
Tiling best_cut(PlanProblem& problem, const PlanOptions& options, int threads, const Ceilings& ceilings);

/// For the run in one piece.
double whole_operations(const PlanProblem& problem);

}  // namespace sepconv
