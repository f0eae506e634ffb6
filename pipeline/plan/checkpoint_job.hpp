// Jobs whose results are made in several runs: one after another, or a part each. Each is for run().
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "pipeline/plan/file_job.hpp"
#include "pipeline/plan/parts.hpp"

namespace sepconv {

/// As plan_file(), of a result that stays next to its name, in Checkpoint::folder_of_target(), when the run
/// ends before its end: a run of the same job continues with it. Throws InvalidArgument where what is there is
/// made of something else, and for formats that are written as a whole.
ImageJob plan_resumed(const std::filesystem::path& input, const std::filesystem::path& output,
                      const Chain& chain, const PlanOptions& options = {}, const FileOptions& files = {});

/// The plan of a result that is begun again when what is there of it is discarded, in one run after another or
/// in parts; makes and discards nothing. The job is to be looked at only. Throws as these, also where another
/// process holds what is there.
ImageJob replan(const std::filesystem::path& input, const std::filesystem::path& output, const Chain& chain,
                const PlanOptions& options = {}, const FileOptions& files = {});

/// Removes what is left of making a result that was given its name before its process was killed: nobody goes
/// on with it, whatever is begun then. False where nothing or something else is there.
bool discard_finished(const std::filesystem::path& output);

/// Removes what is there of such a result, if anything is, for another that is begun then; nothing is given
/// up for one that replan() does not plan.
void discard_for_another(const std::filesystem::path& input, const std::filesystem::path& output,
                         const Chain& chain, const PlanOptions& options = {}, const FileOptions& files = {});

/// Begins a result that is made in parts by processes of their own, on any machines that have its file
/// system, and ends with finish_job(): an image or several, with smaller levels or without. Its bands are
/// this plan's; the job is to be looked at only. Throws InvalidArgument where there is one.
ImageJob create_in_parts(const std::filesystem::path& input, const std::filesystem::path& output,
                         const Chain& chain, const PlanOptions& options = {}, const FileOptions& files = {});

/// The plan of such a result, begun or not; makes nothing. The job is to be looked at only.
ImageJob plan_in_parts(const std::filesystem::path& input, const std::filesystem::path& output,
                       const Chain& chain, const PlanOptions& options = {}, const FileOptions& files = {});

/// Part `part` of `parts`, counted from 1, of a result that was begun so, with the same source, chain and
/// layout; whether it replaces another is known from there, and asked for only as it was then. What is made
/// twice, also at the same time, is the same.
ImageJob plan_part(const std::filesystem::path& input, const std::filesystem::path& output,
                   const Chain& chain, std::int64_t part, std::int64_t parts, const PlanOptions& options = {},
                   const FileOptions& files = {});

/// What completes such a result when all bands are made. The source is opened for its description, and read
/// no more. Throws IoError that names what is not there, with ENODATA where that are parts. `run`: the
/// Checkpoint::run() of what create_in_parts() has begun; what another process has begun in its place is left
/// alone. "": whatever is there.
ImageJob finish_job(const std::filesystem::path& output, Formats formats = built_in_formats(),
                    const std::string& run = {});

/// For a result that was given its name before its process was killed, removes what is left of making it;
/// false where none was, or `run` is another. Throws IoError where it has not its name any more.
bool finish_named(const std::filesystem::path& output, const std::string& run = {});

}  // namespace sepconv
