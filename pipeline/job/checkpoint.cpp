#include "pipeline/job/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <map>

#include "core/error.hpp"
#include "io/fingerprint.hpp"
#include "io/resumable.hpp"
#include "pipeline/job/job_manifest.hpp"

namespace sepconv {
namespace {

namespace fs = std::filesystem;
using Use = Checkpoint::Use;

/// The manifest of a begun checkpoint; nullopt if it has not begun or will be discarded. Throws if the
/// result is made in parts and the checkpoint is used for another kind, or the reverse.
std::optional<JobManifest> saved_manifest(const Checkpoint& checkpoint) {
  if (!checkpoint.is_begun() || checkpoint.use() == Use::none) return std::nullopt;
  JobManifest manifest = parse_job_manifest(checkpoint.state().manifest);
  const bool wants_parts = checkpoint.use() != Use::alone;
  if (manifest.in_parts == wants_parts || checkpoint.state().is_committed) return manifest;
  throw InvalidArgument(fmt::format(
      "{} is {}", checkpoint.folder().native(),
      manifest.in_parts ? "made in parts; make those that are missing and finish it, or discard it"
                        : "there, and is made in one run after another; resume_file() continues it, "
                          "Checkpoint::discard() removes it"));
}

/// Throws with a remedy if the result cannot be made in several runs.
void check_resumable(const ImageJob& job, const fs::path& output, const OutputOptions& request) {
  if (job.sink->resumable() != nullptr) return;
  throw InvalidArgument(fmt::format(
      "{} cannot be made in several runs: {}", output.native(),
      request.cog
          ? "a compressed Cloud Optimized GeoTIFF is put in order at its end; make it in one, or leave "
            "OutputOptions::cog out"
      : job.sink->layout().streams
          ? "another run cannot take over what one has written of it; make it in one, "
            "or choose TIFF, NPY, raw or Zarr"
          : "its format is written as a whole; make it in one, or choose TIFF, NPY, "
            "raw or Zarr"));
}

/// Throws for pixels in memory: their address does not identify them in another process.
void check_is_of_files(const Chain& chain) {
  if (const std::string stage = stage_with_pixels_in_memory(chain); !stage.empty())
    throw InvalidArgument(fmt::format(
        "a result that is made in several runs has an image in memory in its chain ({}), which the next "
        "process does not know; write it to a file, and give that to the stage",
        stage));
}

/// Fingerprint function for a run. A part reuses the manifest's fingerprints of folders: thousands of
/// processes would each list all files of a folder. The finishing process checks them.
FingerprintOf fingerprints_for(const Checkpoint& checkpoint, const std::optional<JobManifest>& saved) {
  if (!saved || checkpoint.use() != Use::part) return fingerprint;
  auto known = saved->stage_fingerprints;
  known.emplace(saved->input.native(), saved->fingerprint);
  return [known = std::move(known)](const fs::path& path) {
    std::error_code ignored;
    const auto entry = known.find(fs::absolute(path).native());
    return entry != known.end() && fs::is_directory(path, ignored) ? entry->second : fingerprint(path);
  };
}

/// Sets the bands of the begun result. Throws if `options` request others.
void use_saved_bands(const JobManifest& saved, const fs::path& folder, PlanOptions& options) {
  const PlanOptions& asked = saved.plan.asked;
  const auto& cut = saved.plan.cut;
  const auto differs = [](std::int64_t requested, std::int64_t planned, std::int64_t used) {
    return requested != 0 && requested != planned && requested != used;
  };
  if (differs(options.band_rows, asked.band_rows, cut.band_rows) ||
      differs(options.band_cols, asked.band_cols, cut.band_cols))
    throw InvalidArgument(
        fmt::format("{} is partly made in bands of {} x {}; leave PlanOptions::band_rows and "
                    "PlanOptions::band_cols out, or discard it",
                    folder.native(), cut.band_cols, cut.band_rows));
  options.band_rows = cut.band_rows;
  options.band_cols = cut.band_cols;
}

/// Plans with the bands of the begun result, if it exists.
ImageJob plan_with(const std::shared_ptr<Checkpoint>& checkpoint, const fs::path& input,
                   const fs::path& output, const Chain& given, PlanOptions options, FileOptions files) {
  check_is_of_files(given);
  const std::optional<JobManifest> saved = saved_manifest(*checkpoint);
  const Chain chain = with_absolute_paths(given);  // the resuming process may be in another folder
  if (saved) {
    use_saved_bands(*saved, checkpoint->folder(), options);
    files.sink_layout = saved->plan.sink_layout;
  }
  const Use use = checkpoint->use();
  JobManifest manifest{.input = input, .files = files, .in_parts = use == Use::all_parts || use == Use::part};
  files.checkpoint = checkpoint;
  ImageJob job = plan_file(input, output, chain, options, files);
  check_resumable(job, output, files.output);
  const FingerprintOf fingerprint_of = fingerprints_for(*checkpoint, saved);
  manifest.fingerprint = fingerprint_of(input);
  if (use == Use::alone)
    for (auto& [file, old_fingerprint] : job.read)
      if (file.is_folder())
        old_fingerprint = &file == &job.read.front().file ? manifest.fingerprint : fingerprint(file.path());
  job.job_manifest = [manifest, fingerprint_of](const Plan& plan) {
    return job_manifest_text(manifest, plan, fingerprint_of);
  };
  if (saved)
    check_same_result(checkpoint->state().manifest, job.job_manifest(job.plan), checkpoint->folder());
  return job;
}

/// Throws for a record of rasters or bands that the plan does not have.
void check_bands(const CompletedBands& record, const ImageJob& job) {
  const auto is_valid = [&](const std::pair<std::int64_t, std::int64_t>& bands) {
    return 0 <= bands.first && bands.first < bands.second && bands.second <= job.plan.band_count();
  };
  if (record.raster < 0 || record.raster >= job.count() || record.bands.empty() ||
      !std::ranges::all_of(record.bands, is_valid))
    throw IoError(
        fmt::format("{} names bands that do not exist; discard it", job.checkpoint->folder().native()));
}

/// Why no record of a raster continues at band `end`.
std::string why_missing(const std::vector<CompletedBands>& records, std::int64_t end, bool has_lost) {
  const auto spans_end = [end](const CompletedBands& record) {
    return record.bands[0].first < end && end < record.bands[0].second;
  };
  if (const auto record = std::ranges::find_if(records, spans_end); record != records.end())
    return fmt::format("covered in part by bands from {} on: all parts K/N need the same N",
                       record->bands[0].first);
  return fmt::format("missing{}; make the parts that have them", has_lost ? " or were changed" : "");
}

/// Adds those of a raster's records that together have each band once: parts of different cuts may overlap.
/// Throws unless they cover all bands.
void add_raster(ImageJob& job, std::int64_t raster, std::vector<CompletedBands> records) {
  const auto first = [](const CompletedBands& record) { return record.bands[0].first; };
  std::ranges::stable_sort(records, {}, first);
  std::map<std::int64_t, CompletedBands*> by_end{{0, nullptr}};  // the last of records that continue from 0
  for (CompletedBands& record : records)
    if (by_end.contains(first(record))) by_end.try_emplace(record.bands[0].second, &record);
  const std::int64_t end = by_end.rbegin()->first, bands = job.plan.band_count();
  if (end < bands) {
    const Rect missing = job.plan.band_rect(end);
    const std::string image =
        job.count() > 1 ? fmt::format(" of the image at {}", position_text(job.plan.axes, raster)) : "";
    throw IoError(fmt::format("{} is not complete: of the {} bands{} those from {} on, at row {} and column "
                              "{}, are {}",
                              job.checkpoint->folder().native(), bands, image, end, missing.row, missing.col,
                              why_missing(records, end, job.checkpoint->state().lost > 0)),
                  ENODATA);
  }
  std::vector<CompletedBands*> chosen;
  for (std::int64_t at = end; at > 0; at = first(*chosen.back())) chosen.push_back(by_end.at(at));
  for (auto record = chosen.rbegin(); record != chosen.rend(); ++record)
    job.done.push_back(std::move(**record));
}

/// The job for a result that is already renamed to its final name; nullopt if another result is requested,
/// for which planning reports the error.
std::optional<ImageJob> plan_renamed(const std::shared_ptr<Checkpoint>& checkpoint, const fs::path& input,
                                     const fs::path& output, const Chain& chain, const PlanOptions& options,
                                     FileOptions files) try {
  files.output.overwrite = true;
  ImageJob job = plan_with(checkpoint, input, output, chain, options, files);
  job.is_named = true;
  job.plan.warnings = {
      fmt::format("{} is complete: the run that made it was killed when it had its name", output.native())};
  return job;
} catch (const InvalidArgument&) {
  return std::nullopt;
}

}  // namespace

ImageJob plan_resumed(const fs::path& input, const fs::path& output, const Chain& chain,
                      const PlanOptions& options, const FileOptions& files) {
  const auto checkpoint = std::make_shared<Checkpoint>(output, Use::alone);
  if (checkpoint->state().is_named)
    if (auto renamed_job = plan_renamed(checkpoint, input, output, chain, options, files))
      return std::move(*renamed_job);
  if (checkpoint->state().is_committed) checkpoint->remove();
  ImageJob job = plan_with(checkpoint, input, output, chain, options, files);
  job.done = checkpoint->take_records();
  std::int64_t pixels = 0;
  for (const CompletedBands& record : job.done) {
    check_bands(record, job);
    pixels += record.pixels;
  }
  const std::string& folder = checkpoint->folder().native();
  const double fraction = static_cast<double>(pixels) /
                          (static_cast<double>(job.plan.region.area()) * static_cast<double>(job.count()));
  if (checkpoint->is_begun())
    job.plan.warnings.push_back(
        fmt::format("resumes {}, which has {:.0f} % of the result", folder, 100 * fraction));
  if (const std::int64_t lost = checkpoint->state().lost; lost > 0)
    job.plan.warnings.push_back(
        fmt::format("{} records in {} failed verification and are computed again", lost, folder));
  if (checkpoint->state().is_cut_short)
    job.plan.warnings.push_back(fmt::format(
        "the journal in {} has a line that was changed, is missing or is there twice: what follows it is "
        "made again",
        folder));
  return job;
}

ImageJob plan_for_parts(const fs::path& input, const fs::path& output, const Chain& chain,
                        const PlanOptions& options, const FileOptions& files) {
  return plan_with(std::make_shared<Checkpoint>(output, Use::part), input, output, chain, options, files);
}

ImageJob create_in_parts(const fs::path& input, const fs::path& output, const Chain& chain,
                         const PlanOptions& options, const FileOptions& files) {
  const auto checkpoint = std::make_shared<Checkpoint>(output, Use::all_parts);
  if (checkpoint->state().is_committed) checkpoint->remove();
  if (checkpoint->is_begun())
    throw IoError(fmt::format("{} is there already: another run makes this result, or one was killed; go on "
                              "with it, or discard it",
                              checkpoint->folder().native()),
                  EEXIST);
  ImageJob job = plan_with(checkpoint, input, output, chain, options, files);
  checkpoint->begin(job.job_manifest(job.plan));
  try {
    checkpoint->sync();
  } catch (const IoError&) {
    checkpoint->remove();  // parts must not start if the manifest may not be on disk
    throw;
  }
  return job;
}

ImageJob plan_part(const fs::path& input, const fs::path& output, const Chain& chain, std::int64_t part,
                   std::int64_t count, const PlanOptions& options, const FileOptions& files) {
  const auto checkpoint = std::make_shared<Checkpoint>(output, Use::part);
  const auto saved = saved_manifest(*checkpoint);
  if (!saved)
    throw InvalidArgument(fmt::format("{} is not begun: a result that is made in parts is created first",
                                      checkpoint->folder().native()));
  const bool overwrites = saved->files.output.overwrite;
  if (files.output.overwrite && !overwrites)
    throw InvalidArgument(
        fmt::format("{} was begun without CreateOptions::overwrite, which holds for all parts; leave it out, "
                    "or discard what is begun",
                    checkpoint->folder().native()));
  if (!overwrites) checkpoint->check_name_is_free();
  FileOptions begun_files = files;
  begun_files.output.overwrite = overwrites;
  ImageJob job = plan_with(checkpoint, input, output, chain, options, begun_files);
  if (part < 1 || part > count)
    throw InvalidArgument(fmt::format("there is no part {} of {}: they are 1 to {}", part, count, count));
  job.part = parts(job.plan, job.sink->layout(), count, job.count())[static_cast<std::size_t>(part - 1)];
  checkpoint->begin_part(job.part->first, job.part->end);
  return job;
}

ImageJob plan_finish(const fs::path& output, Formats formats, const std::string& run) {
  if (!Checkpoint::look(output).exists)
    throw IoError(fmt::format("there is nothing to finish: {} is not there",
                              Checkpoint::checkpoint_folder_of(output).native()));
  const auto checkpoint = std::make_shared<Checkpoint>(output, Use::all_parts);
  checkpoint->check_run_id(run);
  if (checkpoint->state().is_committed) {
    checkpoint->check_is_named();
    throw IoError(fmt::format("there is nothing to finish: {} is complete", output.native()));
  }
  std::optional<JobManifest> saved = saved_manifest(*checkpoint);
  if (!saved)
    throw InvalidArgument(fmt::format("{} has nothing yet of a result that is made in parts; create it first",
                                      checkpoint->folder().native()));
  if (!saved->files.output.overwrite) checkpoint->check_name_is_free();
  saved->files.formats = formats;
  PlanOptions options = saved->plan.asked;
  // No band is run, so memory limits are irrelevant.
  options.max_memory_bytes = std::numeric_limits<std::int64_t>::max() / 4;
  options.max_device_memory_bytes = 0;
  options.threads = options.slots = 0;
  options.devices.clear();
  options.with_cpu = false;
  ImageJob job =
      plan_with(checkpoint, saved->input, output, Chain::parse(saved->plan.stages), options, saved->files);
  std::map<std::int64_t, std::vector<CompletedBands>> by_raster;
  for (CompletedBands& record : checkpoint->take_records()) {
    check_bands(record, job);
    by_raster[record.raster].push_back(std::move(record));
  }
  for (std::int64_t raster = 0; raster < job.count(); ++raster)
    add_raster(job, raster, std::move(by_raster[raster]));
  return job;
}

void discard_for_new_result(const fs::path& input, const fs::path& output, const Chain& chain,
                            const PlanOptions& options, const FileOptions& files) {
  if (discard_completed(output)) return;
  if (Checkpoint::look(output).exists)
    plan_with(std::make_shared<Checkpoint>(output, Use::none), input, output, chain, options, files);
  Checkpoint::discard(output);
}

}  // namespace sepconv
