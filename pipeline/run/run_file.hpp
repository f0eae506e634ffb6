// Filters a file to a file in one call, as `sepconv run IN OUT STAGE...` and `sepconv transpose IN OUT` do.
//
//   sepconv::RunOptions options;
//   options.max_memory_bytes = 256 << 20;
//   options.choose_device = true;
//   const auto chain = sepconv::Chain::parse({"gaussian:sigma=2.5"});
//   const sepconv::RunReport report = sepconv::run_file("scan.tif", "out.tif", chain, options);
//   for (const std::string& warning : report.plan.warnings) std::cerr << warning << '\n';
//
// Results computed in several runs. Either in sequence: the same call resumes an interrupted run. Or in
// parallel: processes on machines with a common file system compute one part each:
//
//   sepconv::resume_file("scan.tif", "resumed.tif", chain);
//
//   sepconv::create_in_parts("scan.tif", "parts.tif", chain, {.band_rows = 64});
//   for (int part = 1; part <= 3; ++part)
//     sepconv::run_part("scan.tif", "parts.tif", chain, part, 3);  // each in a separate process
//   sepconv::finish_file("parts.tif");
#pragma once

#include "pipeline/job/checkpoint.hpp"
#include "pipeline/run/run.hpp"

namespace sepconv {

/// Runs the job's rasters in sequence with its plan. A raster with another storage layout than the first gets
/// a separate plan with the same limits; without `options.retry_smaller_plans` it throws InvalidArgument instead.
/// The report covers all rasters. Errors as of run(); no output remains after an error.
RunReport run(ImageJob& job, const ExecutionOptions& options = {});

/// Runs plan_file()'s plan, or smaller ones if its memory cannot be allocated. The output gets its name when
/// it is complete, and does not exist after an error; an existing file is an error unless
/// OutputOptions::overwrite. The report's plan.warnings list properties of the source that the result lacks.
/// The report's times begin after opening and planning. Errors as of plan_file() and run().
RunReport run_file(const std::filesystem::path& input, const std::filesystem::path& output,
                   const Chain& chain, const RunOptions& options = {}, const FileOptions& files = {});

/// The same with plan_permutation(): axis k of the result is axis permutation.axes[k] of the input.
RunReport permute_file(const std::filesystem::path& input, const std::filesystem::path& output,
                       const Permutation& permutation, const RunOptions& options = {},
                       const FileOptions& files = {});

/// Runs plan_resumed(). The finished file is identical to that of a single run. Memory limits, threads and
/// devices may differ between runs.
RunReport resume_file(const std::filesystem::path& input, const std::filesystem::path& output,
                      const Chain& chain, const RunOptions& options = {}, const FileOptions& files = {});

/// Runs plan_part(); when it returns, the part is synced to disk.
RunReport run_part(const std::filesystem::path& input, const std::filesystem::path& output,
                   const Chain& chain, std::int64_t part, std::int64_t parts, const RunOptions& options = {},
                   const FileOptions& files = {});

/// Runs plan_finish(): completes the result, identical to that of a single run, and renames it. If it was
/// already renamed when a process was killed, only leftover files are removed (remove_completed()), and the
/// report is empty. `begun`: identifies the run, as for plan_finish().
RunReport finish_file(const std::filesystem::path& output, const ExecutionOptions& options = {},
                      Formats formats = built_in_formats(), const std::string& begun = {});

}  // namespace sepconv
