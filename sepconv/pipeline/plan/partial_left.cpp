// What is left of results that have their name, or that are given up.
#include "sepconv/core/error.hpp"
#include "sepconv/io/partial.hpp"
#include "sepconv/pipeline/plan/partial_job.hpp"

namespace sepconv {

namespace fs = std::filesystem;

bool discard_finished(const fs::path& output) {
  const Partial::Seen seen = Partial::look(output);
  return seen.is_committed && Partial::discard(output, seen.run);
}

void discard_for_another(const fs::path& input, const fs::path& output, const Chain& chain,
                         const PlanOptions& options, const FileOptions& files) {
  if (discard_finished(output)) return;
  if (Partial::is_there(output)) plan_anew(input, output, chain, options, files);
  Partial::discard(output);
}

bool finish_named(const fs::path& output, const std::string& run) {
  if (output.empty())
    throw InvalidArgument("the name of the result that is to be finished is missing; give it");
  const Partial::Seen seen = Partial::look(output);
  if (!seen.is_committed || (!run.empty() && run != seen.run)) return false;
  Partial left(output, Partial::Use::all_parts);
  left.check_is_named();
  left.remove();
  return true;
}

}  // namespace sepconv
