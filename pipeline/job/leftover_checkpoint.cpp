// Describes and removes checkpoints that nobody continues.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/error.hpp"
#include "pipeline/job/checkpoint.hpp"
#include "pipeline/job/job_manifest.hpp"

namespace sepconv {
namespace {

/// Text that follows the folder's name.
std::string facts_text(const CheckpointState& state) try {
  if (state.is_damaged)
    return "has a part of a result, and the first line of its journal is damaged or gone;";
  if (state.manifest.empty())
    return "has nothing yet of a result that is made in several runs; resume_file() begins it again, and";
  if (state.is_committed) return "is left of a run that was killed when its result was complete;";
  const JobManifest manifest = parse_job_manifest(state.manifest);
  const std::vector<std::string>& stages = manifest.plan.stages;
  return fmt::format(
      "has a part of a result of {}, made by {}; {}, and", manifest.input.string(),
      stages.empty() ? "copying" : fmt::format("{}", fmt::join(stages, " ")),
      manifest.in_parts ? "run_part() and finish_file() continue it" : "resume_file() continues it");
} catch (const InvalidArgument&) {
  return "has a part of a result that another version of sepconv made;";
}

}  // namespace

std::string describe_checkpoint(const std::filesystem::path& output) {
  const CheckpointState state = Checkpoint::look(output);
  if (!state.exists) return "";
  return fmt::format("{} {} Checkpoint::discard() removes it",
                     Checkpoint::checkpoint_folder_of(output).string(), facts_text(state));
}

bool remove_completed(const std::filesystem::path& output, const std::string& run) {
  if (output.empty())
    throw InvalidArgument("the name of the result that is to be finished is missing; give it");
  const CheckpointState state = Checkpoint::look(output);
  if (!state.is_committed || (!run.empty() && run != state.run)) return false;
  Checkpoint leftover(output, Checkpoint::Use::all_parts);
  leftover.check_is_named();
  leftover.remove();
  return true;
}

bool discard_completed(const std::filesystem::path& output) {
  const CheckpointState state = Checkpoint::look(output);
  return state.is_committed && Checkpoint::discard(output, state.run);
}

}  // namespace sepconv
