// Removal of leftovers of completed or abandoned results.
#include "core/error.hpp"
#include "io/checkpoint.hpp"
#include "pipeline/plan/checkpoint_job.hpp"

namespace sepconv {

namespace fs = std::filesystem;

bool discard_completed(const fs::path& output) {
  const Checkpoint::Seen existing = Checkpoint::look(output);
  return existing.is_committed && Checkpoint::discard(output, existing.run);
}

void discard_for_new_result(const fs::path& input, const fs::path& output, const Chain& chain,
                            const PlanOptions& options, const FileOptions& files) {
  if (discard_completed(output)) return;
  if (Checkpoint::is_there(output)) replan(input, output, chain, options, files);
  Checkpoint::discard(output);
}

bool remove_completed(const fs::path& output, const std::string& run) {
  if (output.empty())
    throw InvalidArgument("the name of the result that is to be finished is missing; give it");
  const Checkpoint::Seen existing = Checkpoint::look(output);
  if (!existing.is_committed || (!run.empty() && run != existing.run)) return false;
  Checkpoint leftover(output, Checkpoint::Use::all_parts);
  leftover.check_is_named();
  leftover.remove();
  return true;
}

}  // namespace sepconv
