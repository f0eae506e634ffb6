#include "sepconv/pipeline/run/run_file.hpp"

#include "sepconv/pipeline/run/run_state.hpp"

namespace sepconv {
namespace {

RunReport run_job(const FileJob& job, ExecutionOptions options) {
  options.smaller_plans = true;
  return run(*job.source, *job.sink, job.plan, options);
}

}  // namespace

RunReport run_file(const std::filesystem::path& input, const std::filesystem::path& output,
                   const Chain& chain, const RunOptions& options, const FileOptions& files) {
  check_no_bands(options);
  return run_job(plan_file(input, output, chain, options, files), options);
}

RunReport permute_file(const std::filesystem::path& input, const std::filesystem::path& output,
                       const Permutation& permutation, const RunOptions& options, const FileOptions& files) {
  check_no_bands(options);
  return run_job(plan_permutation(input, output, permutation, options, files), options);
}

}  // namespace sepconv
