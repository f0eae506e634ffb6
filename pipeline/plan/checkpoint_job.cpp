#include "pipeline/plan/checkpoint_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <map>

#include "core/error.hpp"
#include "io/fingerprint.hpp"
#include "io/resumable.hpp"
#include "pipeline/plan/job_manifest.hpp"

namespace sepconv {
namespace {

namespace fs = std::filesystem;

/// The manifest stored at the beginning of a partial result; nullopt if it has not begun.
std::optional<JobManifest> saved_manifest(const Checkpoint& partial) {
  if (partial.beginning().empty()) return std::nullopt;
  return parse_job_manifest(partial.beginning());
}

/// Why the result cannot be made in several runs, and a remedy; empty if it can.
std::string why_not_resumable(const ImageJob& job, const OutputOptions& request) {
  if (job.sink->resumable() != nullptr) return "";
  if (request.cog)
    return "a compressed Cloud Optimized GeoTIFF is put in order at its end; make it in one, or leave "
           "OutputOptions::cog out";
  return fmt::format("{}; make it in one, or choose TIFF, NPY, raw or Zarr",
                     job.sink->layout().streams ? "another run cannot take over what one has written of it"
                                                : "its format is written as a whole");
}

void check_resumable(const ImageJob& job, const fs::path& output, const OutputOptions& request) {
  if (const std::string reason = why_not_resumable(job, request); !reason.empty())
    throw InvalidArgument(fmt::format("{} cannot be made in several runs: {}", output.native(), reason));
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
FingerprintOf fingerprints_for(const Checkpoint& partial, const std::optional<JobManifest>& saved) {
  if (!saved || partial.use() != Checkpoint::Use::part) return fingerprint;
  auto known = saved->stage_fingerprints;
  known.emplace(saved->input.native(), saved->fingerprint);
  return [known = std::move(known)](const fs::path& path) {
    std::error_code ignored;
    const auto entry = known.find(fs::absolute(path).native());
    return entry != known.end() && fs::is_directory(path, ignored) ? entry->second : fingerprint(path);
  };
}

/// Plans with the bands of the begun result, if it exists.
ImageJob plan_with(const std::shared_ptr<Checkpoint>& partial, const fs::path& input, const fs::path& output,
                   const Chain& given, PlanOptions options, FileOptions files, bool in_parts) {
  check_is_of_files(given);
  const std::optional<JobManifest> saved = saved_manifest(*partial);
  const Chain chain = with_absolute_paths(given);  // the resuming process may be in another folder
  if (saved) {
    const auto differs = [](std::int64_t requested, std::int64_t planned, std::int64_t cut) {
      return requested != 0 && requested != planned && requested != cut;
    };
    if (differs(options.band_rows, saved->plan.asked.band_rows, saved->plan.cut.band_rows) ||
        differs(options.band_cols, saved->plan.asked.band_cols, saved->plan.cut.band_cols))
      throw InvalidArgument(
          fmt::format("{} is partly made in bands of {} x {}; leave PlanOptions::band_rows and "
                      "PlanOptions::band_cols out, or discard it",
                      partial->folder().native(), saved->plan.cut.band_cols, saved->plan.cut.band_rows));
    options.band_rows = saved->plan.cut.band_rows;
    options.band_cols = saved->plan.cut.band_cols;
    files.sink_layout = saved->plan.sink_layout;
  }
  files.partial = partial;
  ImageJob job = plan_file(input, output, chain, options, files);
  check_resumable(job, output, files.output);
  JobManifest manifest{.input = input, .files = files, .in_parts = in_parts};
  manifest.files.partial.reset();  // the manifest may outlive the job
  const FingerprintOf fingerprint_of = fingerprints_for(*partial, saved);
  manifest.fingerprint = fingerprint_of(input);
  if (partial->use() == Checkpoint::Use::alone)
    for (auto& [file, old_fingerprint] : job.read)
      if (file.is_folder())
        old_fingerprint = &file == &job.read.front().file ? manifest.fingerprint : fingerprint(file.path());
  job.job_manifest = [manifest, fingerprint_of](const Plan& plan) {
    return job_manifest_text(manifest, plan, fingerprint_of);
  };
  if (saved) check_same_result(partial->beginning(), job.job_manifest(job.plan), partial->folder());
  return job;
}

/// Throws if a result is begun that is not made in parts.
void check_is_in_parts(const Checkpoint& partial, const std::optional<JobManifest>& before) {
  if (before && !before->in_parts)
    throw InvalidArgument(
        fmt::format("{} is there, and is made in one run after another; resume_file() continues it, "
                    "Checkpoint::discard() removes it",
                    partial.folder().native()));
}

/// Throws for a record of rasters or bands that the plan does not have.
void check_run_id(const CompletedBands& record, const ImageJob& job) {
  const auto is_valid = [&](const std::pair<std::int64_t, std::int64_t>& bands) {
    return 0 <= bands.first && bands.first < bands.second && bands.second <= job.plan.band_count();
  };
  if (record.raster < 0 || record.raster >= job.count() || record.bands.empty() ||
      !std::ranges::all_of(record.bands, is_valid))
    throw IoError(
        fmt::format("{} names bands that do not exist; discard it", job.partial->folder().native()));
}

/// Indices of records that together cover each band from 0 to `end` once.
struct JoinedRecords {
  std::int64_t end = 0;
  std::vector<std::size_t> indices{};
};

/// The records of one raster that together cover the longest prefix of bands. Parts of different cuts may
/// overlap.
JoinedRecords join_records(const std::vector<CompletedBands>& records) {
  std::multimap<std::int64_t, std::size_t> by_first;
  for (std::size_t i = 0; i < records.size(); ++i) by_first.emplace(records[i].bands[0].first, i);
  std::map<std::int64_t, std::size_t> record_by_end{{0, 0}};  // last record by its end band
  for (auto at = record_by_end.begin(); at != record_by_end.end(); ++at) {
    for (auto [next, last] = by_first.equal_range(at->first); next != last; ++next)
      record_by_end.try_emplace(records[next->second].bands[0].second, next->second);
  }
  JoinedRecords result{record_by_end.rbegin()->first};
  for (std::int64_t at = result.end; at > 0; at = records[result.indices.back()].bands[0].first)
    result.indices.push_back(record_by_end.at(at));
  std::ranges::reverse(result.indices);
  return result;
}

/// Why no record continues at band `end`.
std::string why_missing(const std::vector<CompletedBands>& records, std::int64_t end,
                        const Checkpoint& partial) {
  const auto spans_end = [end](const CompletedBands& record) {
    return record.bands[0].first < end && end < record.bands[0].second;
  };
  if (const auto record = std::ranges::find_if(records, spans_end); record != records.end())
    return fmt::format("covered in part by bands from {} on: all parts K/N need the same N",
                       record->bands[0].first);
  return fmt::format("missing{}; make the parts that have them",
                     partial.lost() > 0 ? " or were changed" : "");
}

/// Adds a raster's records to the job. Throws unless they cover all bands.
void add_raster(ImageJob& job, std::int64_t raster, std::vector<CompletedBands> records) {
  const auto [end, indices] = join_records(records);
  const std::int64_t bands = job.plan.band_count();
  if (end < bands) {
    const Rect first = job.plan.band_rect(end);
    const std::string image =
        job.count() > 1 ? fmt::format(" of the image at {}", position_text(job.plan.axes, raster)) : "";
    throw IoError(fmt::format("{} is not complete: of the {} bands{} those from {} on, at row {} and column "
                              "{}, are {}",
                              job.partial->folder().native(), bands, image, end, first.row, first.col,
                              why_missing(records, end, *job.partial)),
                  ENODATA);
  }
  for (const std::size_t index : indices) job.done.push_back(std::move(records[index]));
}

/// The job for a result that is already renamed to its final name; nullopt if another result is requested,
/// for which planning reports the error.
std::optional<ImageJob> plan_renamed(const std::shared_ptr<Checkpoint>& partial, const fs::path& input,
                                     const fs::path& output, const Chain& chain, const PlanOptions& options,
                                     FileOptions files) try {
  files.output.overwrite = true;
  ImageJob job = plan_with(partial, input, output, chain, options, files, false);
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
  const auto partial = std::make_shared<Checkpoint>(output, Checkpoint::Use::alone);
  if (partial->is_named())
    if (auto renamed_job = plan_renamed(partial, input, output, chain, options, files))
      return std::move(*renamed_job);
  if (partial->is_committed()) partial->remove();
  if (const auto before = saved_manifest(*partial); before && before->in_parts)
    throw InvalidArgument(
        fmt::format("{} is made in parts; make those that are missing and finish it, or discard it",
                    partial->folder().native()));
  ImageJob job = plan_with(partial, input, output, chain, options, files, false);
  job.done = partial->take_records();
  std::int64_t pixels = 0;
  for (const CompletedBands& record : job.done) {
    check_run_id(record, job);
    pixels += record.pixels;
  }
  const double fraction = static_cast<double>(pixels) /
                          (static_cast<double>(job.plan.region.area()) * static_cast<double>(job.count()));
  if (!partial->beginning().empty())
    job.plan.warnings.push_back(fmt::format("resumes {}, which has {:.0f} % of the result",
                                            partial->folder().native(), 100 * fraction));
  if (partial->lost() > 0)
    job.plan.warnings.push_back(fmt::format("{} records in {} failed verification and are computed again",
                                            partial->lost(), partial->folder().native()));
  if (partial->is_cut_short())
    job.plan.warnings.push_back(fmt::format(
        "the journal in {} has a line that was changed, is missing or is there twice: what follows it is "
        "made again",
        partial->folder().native()));
  return job;
}

ImageJob plan_for_parts(const fs::path& input, const fs::path& output, const Chain& chain,
                        const PlanOptions& options, const FileOptions& files) {
  const auto partial = std::make_shared<Checkpoint>(output, Checkpoint::Use::part);
  check_is_in_parts(*partial, saved_manifest(*partial));
  return plan_with(partial, input, output, chain, options, files, true);
}

ImageJob replan(const fs::path& input, const fs::path& output, const Chain& chain, const PlanOptions& options,
                const FileOptions& files) {
  return plan_with(std::make_shared<Checkpoint>(output, Checkpoint::Use::none), input, output, chain, options,
                   files, false);
}

ImageJob create_in_parts(const fs::path& input, const fs::path& output, const Chain& chain,
                         const PlanOptions& options, const FileOptions& files) {
  const auto partial = std::make_shared<Checkpoint>(output, Checkpoint::Use::all_parts);
  if (partial->is_committed()) partial->remove();
  if (!partial->beginning().empty())
    throw IoError(fmt::format("{} is there already: another run makes this result, or one was killed; go on "
                              "with it, or discard it",
                              partial->folder().native()),
                  EEXIST);
  ImageJob job = plan_with(partial, input, output, chain, options, files, true);
  partial->begin(job.job_manifest(job.plan));
  try {
    partial->sync();
  } catch (const IoError&) {
    partial->remove();  // parts must not start if the manifest may not be on disk
    throw;
  }
  return job;
}

ImageJob plan_part(const fs::path& input, const fs::path& output, const Chain& chain, std::int64_t part,
                   std::int64_t count, const PlanOptions& options, const FileOptions& files) {
  const auto partial = std::make_shared<Checkpoint>(output, Checkpoint::Use::part);
  const auto before = saved_manifest(*partial);
  check_is_in_parts(*partial, before);
  if (!before)
    throw InvalidArgument(fmt::format("{} is not begun: a result that is made in parts is created first",
                                      partial->folder().native()));
  if (files.output.overwrite && !before->files.output.overwrite)
    throw InvalidArgument(
        fmt::format("{} was begun without CreateOptions::overwrite, which holds for all parts; leave it out, "
                    "or discard what is begun",
                    partial->folder().native()));
  if (!before->files.output.overwrite) partial->check_name_is_free();
  FileOptions begun_files = files;
  begun_files.output.overwrite = before->files.output.overwrite;
  ImageJob job = plan_with(partial, input, output, chain, options, begun_files, true);
  if (part < 1 || part > count)
    throw InvalidArgument(fmt::format("there is no part {} of {}: they are 1 to {}", part, count, count));
  job.part = parts(job.plan, job.sink->layout(), count, job.count())[static_cast<std::size_t>(part - 1)];
  partial->begin_part(job.part->first, job.part->end);
  return job;
}

ImageJob plan_finish(const fs::path& output, Formats formats, const std::string& run) {
  if (!Checkpoint::is_there(output))
    throw IoError(fmt::format("there is nothing to finish: {} is not there",
                              Checkpoint::checkpoint_folder_of(output).native()));
  const auto partial = std::make_shared<Checkpoint>(output, Checkpoint::Use::all_parts);
  partial->check_run_id(run);
  if (partial->is_committed()) {
    partial->check_is_named();
    throw IoError(fmt::format("there is nothing to finish: {} is complete", output.native()));
  }
  std::optional<JobManifest> before = saved_manifest(*partial);
  check_is_in_parts(*partial, before);
  if (!before)
    throw InvalidArgument(fmt::format("{} has nothing yet of a result that is made in parts; create it first",
                                      partial->folder().native()));
  if (!before->files.output.overwrite) partial->check_name_is_free();
  before->files.formats = formats;
  PlanOptions options = before->plan.asked;
  // No band is run, so memory limits are irrelevant.
  options.max_memory_bytes = std::numeric_limits<std::int64_t>::max() / 4;
  options.max_device_memory_bytes = 0;
  options.threads = options.slots = 0;
  options.devices.clear();
  ImageJob job = plan_with(partial, before->input, output, Chain::parse(before->plan.stages), options,
                           before->files, true);
  std::map<std::int64_t, std::vector<CompletedBands>> by_raster;
  for (CompletedBands& record : partial->take_records()) {
    check_run_id(record, job);
    by_raster[record.raster].push_back(std::move(record));
  }
  for (std::int64_t raster = 0; raster < job.count(); ++raster)
    add_raster(job, raster, std::move(by_raster[raster]));
  return job;
}

}  // namespace sepconv
