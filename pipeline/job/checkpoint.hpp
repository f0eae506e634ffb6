// Jobs whose results are made in several runs: sequentially, or in parts. Each is for run().
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "pipeline/job/file_job.hpp"
#include "pipeline/plan/parts.hpp"

namespace sepconv {

/// As plan_file(). If the run ends early, the result remains next to its name in
/// Checkpoint::checkpoint_folder_of(), and a run of the same job continues it. Throws InvalidArgument if the
/// existing data belong to another job, and for formats that are written as a whole.
ImageJob plan_resumed(const std::filesystem::path& input, const std::filesystem::path& output,
                      const Chain& chain, const PlanOptions& options = {}, const FileOptions& files = {});

/// Begins a result that separate processes make in parts, on any machines that share its file system, and
/// that plan_finish() completes: one or several images, with or without smaller levels. Its bands are those of
/// this plan; the job is for inspection only. Throws IoError if one exists.
ImageJob create_in_parts(const std::filesystem::path& input, const std::filesystem::path& output,
                         const Chain& chain, const PlanOptions& options = {}, const FileOptions& files = {});

/// The plan of such a result, begun or not. Creates nothing; the job is for inspection only.
ImageJob plan_for_parts(const std::filesystem::path& input, const std::filesystem::path& output,
                        const Chain& chain, const PlanOptions& options = {}, const FileOptions& files = {});

/// Part `part` of `parts`, counted from 1, of a begun result with the same source, chain and layout. Whether
/// it overwrites is stored there and may only be repeated. A part made twice, even concurrently, is
/// identical.
ImageJob plan_part(const std::filesystem::path& input, const std::filesystem::path& output,
                   const Chain& chain, std::int64_t part, std::int64_t parts, const PlanOptions& options = {},
                   const FileOptions& files = {});

/// The job that completes such a result after all bands. Opens the source for its description only. Throws
/// IoError that names missing data, with ENODATA for missing parts. `run` is the CheckpointState::run that
/// create_in_parts() began; a result begun by another process is left alone. "": any run.
ImageJob plan_finish(const std::filesystem::path& output, Formats formats = built_in_formats(),
                     const std::string& run = {});

/// What the checkpoint of `output` is, and what continues or removes it; empty if none exists.
std::string describe_checkpoint(const std::filesystem::path& output);

/// Removes leftovers of a result that was renamed to its final name before its process was killed. Returns
/// false if there are none, or if `run` differs. Throws IoError if the result no longer has its name.
bool remove_completed(const std::filesystem::path& output, const std::string& run = {});

/// The same, whether the result has its name or not.
bool discard_completed(const std::filesystem::path& output);

/// Removes an existing checkpoint so that another can begin. Throws as plan_resumed(), and removes nothing
/// then.
void discard_for_new_result(const std::filesystem::path& input, const std::filesystem::path& output,
                            const Chain& chain, const PlanOptions& options = {},
                            const FileOptions& files = {});

}  // namespace sepconv
