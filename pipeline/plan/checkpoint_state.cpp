#include "pipeline/plan/checkpoint_state.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/error.hpp"
#include "io/checkpoint.hpp"
#include "pipeline/plan/job_manifest.hpp"

namespace sepconv {
namespace {

/// Text that follows the folder's name.
std::string facts_text(const CheckpointState& state) {
  switch (state.kind) {
    case CheckpointState::Kind::not_begun:
      return "has nothing yet of a result that is made in several runs; resume_file() begins it again, and";
    case CheckpointState::Kind::committed:
      return "is left of a run that was killed when its result was complete;";
    case CheckpointState::Kind::foreign:
      return "has a part of a result that another version of sepconv made;";
    case CheckpointState::Kind::damaged:
      return "has a part of a result, and the first line of its journal is damaged or gone;";
    case CheckpointState::Kind::alone:
    case CheckpointState::Kind::in_parts:
      break;
  }
  return fmt::format("has a part of a result of {}, made by {}; {}, and", state.input.string(),
                     state.stages.empty() ? "copying" : fmt::format("{}", fmt::join(state.stages, " ")),
                     state.kind == CheckpointState::Kind::in_parts
                         ? "run_part() and finish_file() continue it"
                         : "resume_file() continues it");
}

}  // namespace

std::optional<CheckpointState> read_checkpoint_state(const std::filesystem::path& output) {
  using Kind = CheckpointState::Kind;
  if (!Checkpoint::is_there(output)) return std::nullopt;
  const Checkpoint::Seen existing = Checkpoint::look(output);
  CheckpointState state{.folder = Checkpoint::checkpoint_folder_of(output)};
  if (existing.beginning.empty()) {
    state.kind = existing.is_damaged ? Kind::damaged : Kind::not_begun;
    return state;
  }
  try {
    const JobManifest manifest = parse_job_manifest(existing.beginning);
    state.input = manifest.input;
    state.stages = manifest.plan.stages;
    state.kind = manifest.in_parts ? Kind::in_parts : Kind::alone;
  } catch (const InvalidArgument&) {
    state.kind = Kind::foreign;
  }
  if (existing.is_committed) state.kind = Kind::committed;
  return state;
}

std::string describe(const CheckpointState& state) {
  return fmt::format("{} {} Checkpoint::discard() removes it", state.folder.string(), facts_text(state));
}

}  // namespace sepconv
