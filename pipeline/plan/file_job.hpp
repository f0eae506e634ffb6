// From one image file to another, or from and to rasters of the caller's own: what a run needs.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "io/byte_file.hpp"
#include "io/checkpoint.hpp"
#include "io/raster_set.hpp"
#include "kernels/transpose/permutation.hpp"
#include "pipeline/plan/chain_files.hpp"
#include "pipeline/plan/output.hpp"
#include "pipeline/plan/plan_json.hpp"

namespace sepconv {

/// A file or a folder that pixels are read of while a job runs.
struct WatchedFile {
  InputFile file;
  std::string fingerprint{};  ///< of a folder of which all files are looked at once more; else empty
};

struct FileOptions {
  OpenOptions open{};
  OutputOptions output{};  ///< all but its region and missing pixels, which PlanOptions says, and what is
                           ///< stored. Overwriting is one of these
  std::shared_ptr<Checkpoint> partial{};  ///< CreateOptions::partial
  /// For a result that is gone on with: the layout that it has, whatever fits the ceiling now.
  std::string sink_layout{};
  bool orient = false;  ///< rows and columns are turned as the source's orientation says; the result has none
  Formats formats = built_in_formats();
};

/// Where a job reads and where it writes: files by their names, or, in place of either, what a caller has.
struct JobEndpoints {
  std::filesystem::path input{}, output{};
  std::unique_ptr<RasterSet> sources{};
  /// Makes the sinks of such a set; called again where the first does not fit the ceiling. Of `options` all
  /// but stored, metadata and overwrite are for files.
  std::function<std::unique_ptr<RasterSetWriter>(const RasterSetSpec& spec, const CreateOptions& options)>
      make_sinks{};
  bool is_picture = false;  ///< the sinks are pictures
};

/// Opened sources, sinks that have made nothing yet, and the plan from one to the other: for run(). What the
/// result will not have of its source is in Plan::warnings.
struct ImageJob {
  std::unique_ptr<RasterSet> sources{};      ///< null: there is only the one below
  std::unique_ptr<RasterSetWriter> sinks{};  ///< likewise
  std::unique_ptr<Reader> source{};          ///< of the first raster
  std::unique_ptr<Writer> sink{};
  Plan plan{};
  std::vector<WatchedFile> read{};  ///< the source, where it is none of the caller's, then the second images
  ImageChange change{};             ///< from a raster of the source to one of the result
  bool first_has_nodata = false;    ///< pixels of a value are missing in the first raster
  /// The result stays in this until it is complete; null: an unfinished one goes.
  std::shared_ptr<Checkpoint> partial{};
  /// What that begins with, by the plan that is run.
  std::function<std::string(const Plan&)> job_manifest{};
  std::vector<CompletedBands> done{};  ///< by runs before
  bool is_named = false;  ///< the result has its name: a run only removes what is left of making it
  /// Only these bands are made, in a process of their own; they are counted through all rasters.
  std::optional<BandRange> part{};

  std::int64_t count() const { return sources ? sources->count() : 1; }
  /// Puts the next raster and its sink in the place of those before, when the sink is finished. What is to be
  /// said of them and not of the first is added to Plan::warnings.
  void advance(std::int64_t raster);
  /// Before the last sink is finished: throws IoError if what is read was written to meanwhile, so that what
  /// was made may be of both. Of a folder it asks RasterSet::has_changed(), where it is the source.
  void check_unchanged() const;
  /// Completes the file, when the last sink is finished.
  void finish();
};
/// Makes it the plan of another raster of its axes: second images are sets, too.
void go_to_raster(Plan& plan, std::int64_t raster);
/// Adds the sentences that are not among them.
void add_new(std::vector<std::string>& sentences, const std::vector<std::string>& more);

/// Checks everything that can be checked before a pixel is read. All rasters of the input are filtered, or
/// those that OpenOptions::page or select names, and the result has their axes. It is laid out like its
/// source and has its metadata, as far as that makes sense and `files` do not say otherwise; where no plan
/// fits the ceiling, tiles take the place of strips or the other way round, which the notes say. Throws
/// IoError, InvalidArgument, among that for an output that is one of files_read_by(), and OutOfMemory.
ImageJob plan_file(const std::filesystem::path& input, const std::filesystem::path& output,
                   const Chain& chain, const PlanOptions& options = {}, const FileOptions& files = {});

/// The same by a plan that was stored, for the chain of its stages.
ImageJob plan_file(const std::filesystem::path& input, const std::filesystem::path& output,
                   const Chain& chain, const PlanRecord& record, const FileOptions& files = {});

/// Both for other ends than files.
ImageJob plan_job(JobEndpoints ends, const Chain& chain, const PlanOptions& options = {},
                  const FileOptions& files = {});
ImageJob plan_job(JobEndpoints ends, const Chain& chain, const PlanRecord& record,
                  const FileOptions& files = {});

/// What plan_file() does for the array that the file holds, with its axes permuted: rows, columns and
/// channels of an image, up to three axes of an NPY array of any elements of 1, 2, 4, 8 or 16 bytes. An array
/// of two axes stays one unless the permutation moves the third. Of several images rows become columns in
/// each, and other permutations take one. Throws InvalidArgument for a region, too.
ImageJob plan_permutation(const std::filesystem::path& input, const std::filesystem::path& output,
                          const Permutation& permutation, const PlanOptions& options = {},
                          const FileOptions& files = {});

}  // namespace sepconv
