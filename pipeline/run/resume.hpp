// Results computed in several runs, with one call each.
//
// Either in sequence: the same call resumes an interrupted run. Or in parallel: processes on machines with a
// common file system compute one part each:
//
//   sepconv::resume_file("scan.tif", "resumed.tif", chain);
//
//   sepconv::create_in_parts("scan.tif", "parts.tif", chain, {.band_rows = 64});
//   for (int part = 1; part <= 3; ++part)
//     sepconv::run_part("scan.tif", "parts.tif", chain, part, 3);  // each in a separate process
//   sepconv::finish_file("parts.tif");
#pragma once

#include "pipeline/job/checkpoint.hpp"
#include "pipeline/run/run_file.hpp"

namespace sepconv {

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
