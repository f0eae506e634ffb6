// Why a plan is as it is, a sentence each. Internal to the planner.
#pragma once

#include "pipeline/plan/cost.hpp"

namespace sepconv {

/// Whether pixels beyond any of the source's edges are needed, which is repeated there.
bool matches_source(const PlanProblem& problem);

/// Whether rows beyond the source's edges are needed, which are those of the other edge.
bool reads_other_edge(const PlanProblem& problem);

/// `plan` has everything but what is predicted; `asked_threads`: that were asked for.
std::vector<std::string> explain(const PlanProblem& problem, const Plan& plan, const PlanOptions& options,
                                 int asked_threads);

}  // namespace sepconv
