// The cheapest of the cuts that fit. Internal to the planner.
#pragma once

#include "sepconv/pipeline/plan/ceilings.hpp"
#include "sepconv/pipeline/plan/cost.hpp"

namespace sepconv {

constexpr std::int64_t kLeastArenaBytes = 1 << 20;  ///< a bound of scratch that is never lowered

/// Lowers `problem.max_arena_bytes` where nothing fits otherwise. Throws OutOfMemory, with a ceiling that is
/// enough, where nothing fits at all.
Cut best_cut(PlanProblem& problem, const PlanOptions& options, int threads, const Ceilings& ceilings);

/// Of the run in one piece.
double whole_operations(const PlanProblem& problem);

}  // namespace sepconv
