// The reasons for a plan, one sentence each. Internal to the planner.
#pragma once

#include "pipeline/plan/cost.hpp"

namespace sepconv {

/// Whether pixels beyond any of the source's edges are needed, where the source repeats.
bool reads_beyond_edges(const PlanProblem& problem);

/// Whether rows beyond the upper or lower edge are needed, which come from the opposite edge.
bool reads_opposite_edge(const PlanProblem& problem);

/// Notes for `plan`, which needs all fields except `predicted`. `requested_threads`: the requested number of
/// threads.
std::vector<std::string> explain(const PlanProblem& problem, const Plan& plan, const PlanOptions& options,
                                 int requested_threads);

/// Notes about missing pixels.
std::vector<std::string> missing_pixel_notes(const MissingPixels& missing, const Chain& nodata_chain);

}  // namespace sepconv
