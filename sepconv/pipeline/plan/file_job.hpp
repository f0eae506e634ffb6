// From one image file to another: what a run needs, made of the files' names.
#pragma once

#include <filesystem>
#include <memory>

#include "sepconv/io/taken_files.hpp"
#include "sepconv/kernels/transpose/permutation.hpp"
#include "sepconv/pipeline/plan/output.hpp"
#include "sepconv/pipeline/plan/plan_json.hpp"

namespace sepconv {

struct FileOptions {
  OpenOptions open{};
  OutputRequest output{};  ///< all but its region, which PlanOptions says. Overwriting is one of these
  Formats formats = built_in_formats();
};

/// An opened source, a sink that has made nothing yet, and the plan from one to the other: for run(). What
/// the result will not have of its source is in Plan::warnings.
struct FileJob {
  std::unique_ptr<Reader> source;
  std::unique_ptr<Writer> sink;
  Plan plan;
};

/// Checks everything that can be checked before a pixel is read. The result is laid out like its source and
/// has its metadata, as far as that makes sense and `files` do not say otherwise; where no plan fits the
/// ceiling, tiles take the place of strips or the other way round, which the notes say. Throws IoError,
/// InvalidArgument, among that for an output that is one of files_read_by(), and OutOfMemory.
FileJob plan_file(const std::filesystem::path& input, const std::filesystem::path& output, const Chain& chain,
                  const PlanOptions& options = {}, const FileOptions& files = {});

/// The same by a plan that was stored, for the chain of its stages.
FileJob plan_file(const std::filesystem::path& input, const std::filesystem::path& output, const Chain& chain,
                  const PlanRecord& record, const FileOptions& files = {});

/// The same for the array that the file holds, with its axes permuted: rows, columns and channels of an
/// image, up to three axes of an NPY array of any elements of 1, 2, 4, 8 or 16 bytes. An array of two axes
/// stays one unless the permutation moves the third. Throws InvalidArgument for a region, too.
FileJob plan_permutation(const std::filesystem::path& input, const std::filesystem::path& output,
                         const Permutation& permutation, const PlanOptions& options = {},
                         const FileOptions& files = {});

/// What the chain's stages, those of stage_table(), were made of.
TakenFiles files_read_by(const Chain& chain);
/// The input image beside that.
TakenFiles files_read_by(const std::filesystem::path& input, const Chain& chain = {});

}  // namespace sepconv
