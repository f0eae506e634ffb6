#include "pipeline/run/resume.hpp"

#include "pipeline/run/run_state.hpp"

namespace sepconv {

RunReport resume_file(const std::filesystem::path& input, const std::filesystem::path& output,
                      const Chain& chain, const RunOptions& options, const FileOptions& files) {
  check_no_bands(options);
  ExecutionOptions execution = options;
  execution.retry_smaller_plans = true;
  ImageJob job = plan_resumed(input, output, chain, options, files);
  return run(job, execution);
}

RunReport run_part(const std::filesystem::path& input, const std::filesystem::path& output,
                   const Chain& chain, std::int64_t part, std::int64_t parts, const RunOptions& options,
                   const FileOptions& files) {
  check_no_bands(options);
  ImageJob job = plan_part(input, output, chain, part, parts, options, files);
  return run(job, options);
}

RunReport finish_file(const std::filesystem::path& output, const ExecutionOptions& options, Formats formats,
                      const std::string& begun) {
  if (remove_completed(output, begun)) return {};
  ImageJob job = plan_finish(output, formats, begun);
  return run(job, options);
}

}  // namespace sepconv
