#include "sepconv/pipeline/plan/partial_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "sepconv/core/error.hpp"
#include "sepconv/io/fingerprint.hpp"
#include "sepconv/io/resumable.hpp"
#include "sepconv/pipeline/plan/made_of.hpp"
#include "sepconv/pipeline/stages/volume_stage.hpp"

namespace sepconv {
namespace {

namespace fs = std::filesystem;

/// What a partial result is made with, as its beginning says; nothing where it has none yet.
std::optional<MadeOf> begun(const Partial& partial) {
  if (partial.beginning().empty()) return std::nullopt;
  return parse_made_of(partial.beginning());
}

bool is_named(const fs::path& output, const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(output, ignored) && !fs::exists(Partial::result_in(folder), ignored);
}

void check_resumable(const FileJob& job, const fs::path& output, const Chain& chain) {
  if (is_deep(chain))
    throw InvalidArgument(
        fmt::format("{} cannot be made in several runs: what is filtered along z is not gone on with in the "
                    "middle of a volume; make it in one",
                    output.native()));
  if (job.sink->resumable() == nullptr)
    throw InvalidArgument(
        fmt::format("{} cannot be made in several runs: {}; make it in one, or choose TIFF, NPY, raw or Zarr",
                    output.native(),
                    job.sink->layout().streams ? "another run cannot take over what one has written of it"
                                               : "its format is written as a whole"));
}

/// Plans by the bands of what is begun, if it is.
FileJob plan_with(const std::shared_ptr<Partial>& partial, const fs::path& input, const fs::path& output,
                  const Chain& chain, PlanOptions options, FileOptions files, bool in_parts) {
  const std::optional<MadeOf> before = begun(*partial);
  if (before) {
    const auto differs = [](std::int64_t asked, std::int64_t then, std::int64_t cut) {
      return asked != 0 && asked != then && asked != cut;
    };
    if (differs(options.band_rows, before->plan.asked.band_rows, before->plan.cut.band_rows) ||
        differs(options.band_cols, before->plan.asked.band_cols, before->plan.cut.band_cols))
      throw InvalidArgument(
          fmt::format("{} is partly made in bands of {} x {}; leave PlanOptions::band_rows and "
                      "PlanOptions::band_cols out, "
                      "or discard it",
                      partial->folder().native(), before->plan.cut.band_cols, before->plan.cut.band_rows));
    options.band_rows = before->plan.cut.band_rows;
    options.band_cols = before->plan.cut.band_cols;
  }
  files.partial = partial;
  FileJob job = plan_file(input, output, chain, options, files);
  check_resumable(job, output, chain);
  MadeOf now{.input = input, .files = files, .in_parts = in_parts};
  // All names of a folder would be looked at by each of a thousand processes: who finishes looks at them.
  std::error_code ignored;
  const bool is_known = before && partial->use() == Partial::Use::part && fs::is_directory(input, ignored);
  now.fingerprint = is_known ? before->fingerprint : fingerprint(input);
  job.made_of = [now](const Plan& plan) { return made_of_text(now, plan); };
  if (before) check_same_result(partial->beginning(), job.made_of(job.plan), partial->folder());
  return job;
}

/// Throws for a record of what the plan has not.
void check_is_of(const DoneRecord& record, const FileJob& job) {
  const auto is_there = [&](const std::pair<std::int64_t, std::int64_t>& bands) {
    return 0 <= bands.first && bands.first < bands.second && bands.second <= job.plan.band_count();
  };
  if (record.raster < 0 || record.raster >= job.count() || record.bands.empty() ||
      !std::ranges::all_of(record.bands, is_there))
    throw IoError(
        fmt::format("{} names bands that are not there; discard it", job.partial->folder().native()));
}

/// Of the records of one raster those of which each band has one, in the order of the bands; those that reach
/// beyond the first that has none are left out. Parts of different cuts may overlap. Returns that first.
std::int64_t keep_disjoint(std::vector<DoneRecord>& records) {
  std::map<std::int64_t, DoneRecord*> reached{{0, nullptr}};  // by the band behind the last
  for (auto at = reached.begin(); at != reached.end(); ++at) {
    for (DoneRecord& record : records) {
      if (record.bands[0].first == at->first) reached.try_emplace(record.bands[0].second, &record);
    }
  }
  const std::int64_t end = reached.rbegin()->first;
  std::vector<DoneRecord> chosen;
  for (std::int64_t at = end; at > 0; at = chosen.back().bands[0].first)
    chosen.push_back(std::move(*reached.at(at)));
  std::ranges::reverse(chosen);
  records = std::move(chosen);
  return end;
}

/// Adds what is done of a raster to the job. Throws unless that is all of it.
void add_raster(FileJob& job, std::int64_t raster, std::vector<DoneRecord> records) {
  const std::int64_t end = keep_disjoint(records), bands = job.plan.band_count();
  if (end < bands) {
    const Rect first = job.plan.band_rect(end);
    const std::string image =
        job.count() > 1 ? fmt::format(" of the image at {}", position_text(job.plan.axes, raster)) : "";
    throw IoError(
        fmt::format("{} is not complete: of the {} bands{} those from {} on, at row {} and column {}, are "
                    "missing{}; make the parts that have them",
                    job.partial->folder().native(), bands, image, end, first.row, first.col,
                    job.partial->lost() > 0 ? " or were changed" : ""));
  }
  std::ranges::move(records, std::back_inserter(job.done));
}

}  // namespace

FileJob plan_resumed(const fs::path& input, const fs::path& output, const Chain& chain,
                     const PlanOptions& options, const FileOptions& files) {
  const auto partial = std::make_shared<Partial>(output, Partial::Use::alone);
  // A run that was killed when its result had its name.
  if (is_named(output, partial->folder())) partial->remove();
  if (const auto before = begun(*partial); before && before->in_parts)
    throw InvalidArgument(
        fmt::format("{} is made in parts; make those that are missing and finish it, or discard it",
                    partial->folder().native()));
  FileJob job = plan_with(partial, input, output, chain, options, files, false);
  job.done = partial->take_records();
  std::int64_t pixels = 0;
  for (const DoneRecord& record : job.done) {
    check_is_of(record, job);
    pixels += record.pixels;
  }
  const double share = static_cast<double>(pixels) /
                       (static_cast<double>(job.plan.region.area()) * static_cast<double>(job.count()));
  if (!partial->beginning().empty())
    job.plan.warnings.push_back(fmt::format("goes on with {}, which has {:.0f} % of the result",
                                            partial->folder().native(), 100 * share));
  if (partial->lost() > 0)
    job.plan.warnings.push_back(
        fmt::format("{} of the records in {} are made again: what they speak of is not there, or was changed",
                    partial->lost(), partial->folder().native()));
  return job;
}

FileJob create_in_parts(const fs::path& input, const fs::path& output, const Chain& chain,
                        const PlanOptions& options, const FileOptions& files) {
  const auto partial = std::make_shared<Partial>(output, Partial::Use::all_parts);
  if (!partial->beginning().empty())
    throw InvalidArgument(
        fmt::format("{} is there already; go on with it, or discard it", partial->folder().native()));
  FileJob job = plan_with(partial, input, output, chain, options, files, true);
  partial->begin(job.made_of(job.plan));
  partial->sync();
  return job;
}

FileJob plan_part(const fs::path& input, const fs::path& output, const Chain& chain, std::int64_t part,
                  std::int64_t count, const PlanOptions& options, const FileOptions& files) {
  const auto partial = std::make_shared<Partial>(output, Partial::Use::part);
  const auto before = begun(*partial);
  if (!before || !before->in_parts)
    throw InvalidArgument(fmt::format("{} is not begun: a result that is made in parts is created first",
                                      partial->folder().native()));
  FileJob job = plan_with(partial, input, output, chain, options, files, true);
  if (part < 1 || part > count)
    throw InvalidArgument(fmt::format("there is no part {} of {}: they are 1 to {}", part, count, count));
  job.part = parts(job.plan, job.sink->layout(), count, job.count())[static_cast<std::size_t>(part - 1)];
  partial->begin_part(job.part->first, job.part->end);
  return job;
}

FileJob finish_job(const fs::path& output, Formats formats) {
  if (!Partial::is_there(output))
    throw IoError(fmt::format("there is nothing to finish: {} is not there",
                              Partial::folder_of_target(output).native()));
  const auto partial = std::make_shared<Partial>(output, Partial::Use::all_parts);
  std::optional<MadeOf> before = begun(*partial);
  if (!before || !before->in_parts)
    throw InvalidArgument(fmt::format("{} is not made in parts: the command that began it goes on with it",
                                      partial->folder().native()));
  before->files.formats = formats;
  PlanOptions options = before->plan.asked;
  options.max_memory_bytes = options.max_device_memory_bytes = 0;
  options.threads = options.slots = 0;
  options.devices.clear();
  FileJob job = plan_with(partial, before->input, output, Chain::parse(before->plan.stages), options,
                          before->files, true);
  std::map<std::int64_t, std::vector<DoneRecord>> by_raster;
  for (DoneRecord& record : partial->take_records()) {
    check_is_of(record, job);
    by_raster[record.raster].push_back(std::move(record));
  }
  for (std::int64_t raster = 0; raster < job.count(); ++raster)
    add_raster(job, raster, std::move(by_raster[raster]));
  return job;
}

std::optional<PartialState> partial_state(const fs::path& output) {
  const std::string beginning = Partial::beginning_of(output);
  if (beginning.empty()) return std::nullopt;
  PartialState state{.folder = Partial::folder_of_target(output)};
  state.is_named = is_named(output, state.folder);
  try {
    const MadeOf made = parse_made_of(beginning);
    state.input = made.input;
    state.stages = made.plan.stages;
    state.in_parts = made.in_parts;
  } catch (const InvalidArgument&) {
    state.is_foreign = true;
  }
  return state;
}

}  // namespace sepconv
