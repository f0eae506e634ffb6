// Everything that a run needs: from one image file to another, or between rasters supplied by the caller.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "io/byte_file.hpp"
#include "io/checkpoint/checkpoint.hpp"
#include "io/raster_set.hpp"
#include "kernels/transpose/permutation.hpp"
#include "pipeline/job/chain_files.hpp"
#include "pipeline/job/output.hpp"
#include "pipeline/job/plan_json.hpp"

namespace sepconv {

/// A file or folder whose pixels are read while a job runs.
struct WatchedFile {
  InputFile file;
  std::string fingerprint{};  ///< fingerprint of a folder whose files are all checked again; otherwise empty
};

struct FileOptions {
  OpenOptions open{};
  OutputOptions output{};  ///< includes overwriting. Its region, missing pixels, mask and stored type are set
                           ///< from PlanOptions and the source
  std::shared_ptr<Checkpoint> checkpoint{};  ///< CreateOptions::checkpoint
  /// For a resumed result: its existing layout, even if another would fit the ceiling.
  std::string sink_layout{};
  bool orient = false;  ///< orient the pixels by the source's orientation tag; the result has no such tag
  Formats formats = built_in_formats();
};

/// Source and destination of a job: file names, or objects supplied by the caller.
struct JobEndpoints {
  std::filesystem::path input{}, output{};
  std::unique_ptr<RasterSet> sources{};
  /// Creates the sinks of a raster set; called again if the first layout exceeds the ceiling. Only `stored`,
  /// `metadata` and `overwrite` of `options` apply to sinks that are not files.
  std::function<std::unique_ptr<RasterSetWriter>(const RasterSetSpec& spec, const CreateOptions& options)>
      make_sinks{};
  bool is_picture = false;  ///< the sinks are pictures
};

/// Opened sources, sinks without output yet, and the plan between them: for run(). Plan::warnings lists what
/// the result loses from its source.
struct ImageJob {
  std::unique_ptr<RasterSet> sources{};      ///< null: only `source` exists
  std::unique_ptr<RasterSetWriter> sinks{};  ///< null: only `sink` exists
  std::unique_ptr<Reader> source{};          ///< the first raster
  std::unique_ptr<Writer> sink{};
  Plan plan{};
  std::vector<WatchedFile> read{};  ///< the source, unless supplied by the caller, then the second images
  ImageChange change{};             ///< from a source raster to a result raster
  bool first_has_nodata = false;    ///< the first raster has a nodata value
  /// Stores the result until it is complete; null: an unfinished result is deleted.
  std::shared_ptr<Checkpoint> checkpoint{};
  /// Text of the manifest at the beginning of `checkpoint`, for the plan that is run.
  std::function<std::string(const Plan&)> job_manifest{};
  std::vector<CompletedBands> done{};  ///< bands completed by previous runs
  bool is_named = false;               ///< the result has its final name: a run only removes leftovers
  /// Only these bands are computed, by a separate process; they are numbered through all rasters.
  std::optional<BandRange> part{};

  std::int64_t count() const { return sources ? sources->count() : 1; }
  /// Replaces source and sink by those of the next raster, after the sink is finished, and the chains and
  /// missing pixels of `plan` by its own. Its additional warnings are added to Plan::warnings.
  void advance(std::int64_t raster);
  /// To be called before the last sink is finished. Throws IoError if an input was written to during the run,
  /// because the result may mix both versions. A source folder is checked by RasterSet::has_changed().
  void check_unchanged() const;
  /// Completes the file after the last sink is finished.
  void finish();
};
/// Appends the sentences of `more` that `sentences` does not contain.
void append_unique(std::vector<std::string>& sentences, const std::vector<std::string>& more);

/// Checks everything that can be checked before a pixel is read. Filters all rasters of the input, or those
/// that OpenOptions::page or select names; the result has their axes. Layout and metadata follow the source
/// where sensible, unless `files` sets them. If no plan fits the ceiling, tiles replace strips or the
/// reverse, with a note. Throws IoError, InvalidArgument (also if the output is one of files_read_by()), and
/// OutOfMemory.
ImageJob plan_file(const std::filesystem::path& input, const std::filesystem::path& output,
                   const Chain& chain, const PlanOptions& options = {}, const FileOptions& files = {});

/// The same with a stored plan, for the chain of its stages.
ImageJob plan_file(const std::filesystem::path& input, const std::filesystem::path& output,
                   const Chain& chain, const PlanRecord& record, const FileOptions& files = {});

/// Both for endpoints other than files.
ImageJob plan_job(JobEndpoints endpoints, const Chain& chain, const PlanOptions& options = {},
                  const FileOptions& files = {});
ImageJob plan_job(JobEndpoints endpoints, const Chain& chain, const PlanRecord& record,
                  const FileOptions& files = {});

/// plan_file() for the array in the file with its axes permuted: rows, columns and channels of an image, or
/// up to three axes of an NPY array with elements of 1, 2, 4, 8 or 16 bytes. An array of two axes keeps two
/// unless the permutation moves the third. In files of several images rows and columns are exchanged in each;
/// other permutations need a single image. Throws InvalidArgument for a region, too.
ImageJob plan_permutation(const std::filesystem::path& input, const std::filesystem::path& output,
                          const Permutation& permutation, const PlanOptions& options = {},
                          const FileOptions& files = {});

}  // namespace sepconv
