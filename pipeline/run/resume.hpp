// Results that are made in several runs, in one call each.
//
// One after another: what a run leaves that ends before its end, the same call continues with. Or by processes
// that make a part each, on machines that have the same file system:
//
//   sepconv::resume_file("scan.tif", "resumed.tif", chain);
//
//   sepconv::create_in_parts("scan.tif", "parts.tif", chain, {.band_rows = 64});
//   for (int part = 1; part <= 3; ++part)
//     sepconv::run_part("scan.tif", "parts.tif", chain, part, 3);  // each in a process of its own
//   sepconv::finish_file("parts.tif");
#pragma once

#include "pipeline/plan/checkpoint_job.hpp"
#include "pipeline/plan/checkpoint_state.hpp"
#include "pipeline/run/run_file.hpp"

namespace sepconv {

/// run_file() of plan_resumed(): the finished file has the bytes that one run would have made. It may be
/// given other memory, threads and devices each time.
RunReport resume_file(const std::filesystem::path& input, const std::filesystem::path& output,
                      const Chain& chain, const RunOptions& options = {}, const FileOptions& files = {});

/// Runs plan_part(); when it returns, the part is on the disk.
RunReport run_part(const std::filesystem::path& input, const std::filesystem::path& output,
                   const Chain& chain, std::int64_t part, std::int64_t parts, const RunOptions& options = {},
                   const FileOptions& files = {});

/// Runs finish_job(): the result gets its name, and is the one that one run would have made. Of one that has
/// its name, because a process was killed then, only what is left is removed (finish_named()), and the report
/// is empty. `begun`: the run, as finish_job() has it.
RunReport finish_file(const std::filesystem::path& output, const ExecutionOptions& options = {},
                      Formats formats = built_in_formats(), const std::string& begun = {});

}  // namespace sepconv
