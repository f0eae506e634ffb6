#include "sepconv/pipeline/plan/partial_state.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sepconv/core/error.hpp"
#include "sepconv/io/partial.hpp"
#include "sepconv/pipeline/plan/made_of.hpp"

namespace sepconv {
namespace {

/// Behind the folder's name.
std::string facts_of(const PartialState& state) {
  switch (state.kind) {
    case PartialState::Kind::not_begun:
      return "has nothing yet of a result that is made in several runs; resume_file() begins it anew, and";
    case PartialState::Kind::committed:
      return "is left of a run that was killed when its result was complete;";
    case PartialState::Kind::foreign:
      return "has a part of a result that another version of sepconv made;";
    case PartialState::Kind::damaged:
      return "has a part of a result, and the first line of its journal is damaged or gone;";
    case PartialState::Kind::alone:
    case PartialState::Kind::in_parts:
      break;
  }
  return fmt::format("has a part of a result of {}, made by {}; {}, and", state.input.string(),
                     state.stages.empty() ? "copying" : fmt::format("{}", fmt::join(state.stages, " ")),
                     state.kind == PartialState::Kind::in_parts ? "run_part() and finish_file() go on with it"
                                                                : "resume_file() goes on with it");
}

}  // namespace

std::optional<PartialState> partial_state(const std::filesystem::path& output) {
  using Kind = PartialState::Kind;
  if (!Partial::is_there(output)) return std::nullopt;
  const Partial::Seen seen = Partial::look(output);
  PartialState state{.folder = Partial::folder_of_target(output)};
  if (seen.beginning.empty()) {
    state.kind = seen.is_damaged ? Kind::damaged : Kind::not_begun;
    return state;
  }
  try {
    const MadeOf made = parse_made_of(seen.beginning);
    state.input = made.input;
    state.stages = made.plan.stages;
    state.kind = made.in_parts ? Kind::in_parts : Kind::alone;
  } catch (const InvalidArgument&) {
    state.kind = Kind::foreign;
  }
  if (seen.is_committed) state.kind = Kind::committed;
  return state;
}

std::string describe(const PartialState& state) {
  return fmt::format("{} {} Partial::discard() removes it", state.folder.string(), facts_of(state));
}

}  // namespace sepconv
