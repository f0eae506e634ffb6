#include "pipeline/plan/file_job.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "io/fingerprint.hpp"
#include "io/mirrored_set.hpp"
#include "io/sibling_mask.hpp"
#include "io/without_alpha.hpp"
#include "pipeline/plan/display_range.hpp"
#include "pipeline/plan/few_values.hpp"
#include "pipeline/plan/pyramid_writer.hpp"
#include "pipeline/plan/volume_sinks.hpp"
#include "pipeline/stages/on_volume.hpp"
#include "pipeline/stages/stages.hpp"

namespace sepconv {
namespace {

/// A job without its plan, and what is needed to create its sinks.
struct Beginning {
  ImageJob job;
  ImageSpec spec;  ///< of the sink
  MissingPixels missing;
  bool drops_alpha = false;  ///< alpha is removed from the pixels and is not a channel of the sinks
  LayoutCandidates geometries;
  RasterAxes axes{};  ///< of the sinks
  Chain chain{};      ///< the planned chain: of rasters, or of the volumes built from them
  /// For a chain that filters along z.
  std::optional<VolumeAxes> volume{};
  std::optional<FlattenedVolume> planes{};
  PlaneMetadata of_plane{};
};

/// The z axis of a chain that filters along z; nullopt for other chains. Throws InvalidArgument if the source
/// has no planes along z.
std::optional<VolumeAxes> volume_of(const Chain& chain, const RasterSet& sources,
                                    const PlanOptions& options) {
  if (!filters_along_z(chain)) return std::nullopt;
  std::optional<VolumeAxes> volume = volume_axes(sources.axes(), "z");
  if (volume && options.region != Rect{})
    throw InvalidArgument(
        "a region of what is filtered along z is not planned; leave PlanOptions::region out, or take a part "
        "of the planes with OpenOptions::select");
  if (volume && volume->depth == 1) {
    const RasterAxes& axes = sources.axes();
    const auto longer = std::ranges::find_if(
        axes, [](const RasterAxis& axis) { return axis.size > 1 && axis.name != "c" && axis.name != "s"; });
    if (longer != axes.end())
      throw InvalidArgument(
          fmt::format("'{}' filters along z, where the source has one plane; its {} planes lie along {}: "
                      "leave out what it does along z, or name the axis z with OpenOptions::axes zyx, where "
                      "that is what it is",
                      chain.text(), longer->size, longer->name));
  }
  return volume;  // without an axis the stage itself reports the error
}

/// Opens files for endpoints that the caller did not supply.
void open_ends(JobEndpoints& ends, const Chain& chain, const OpenOptions& options, Formats formats) {
  if (!ends.make_sinks) {
    check_not_read(ends.output, ends.sources ? files_read_by(chain) : files_read_by(ends.input, chain));
    ends.make_sinks = [output = ends.output, formats](const RasterSetSpec& spec,
                                                      const CreateOptions& create) {
      return create_set(output, spec, create, formats);
    };
  }
  if (!ends.sources) ends.sources = open_set(ends.input, options, formats);
}

/// Metadata of a result's image; descriptions of lost metadata are added to `lost`.
Metadata kept_of_image(Metadata metadata, const ImageChange& change, const MissingPixels& missing, Work work,
                       std::vector<std::string>& lost) {
  declare(missing, work, metadata, lost);
  return metadata.kept_for(change, lost);
}

/// The same for a plane after the first; the first reports what is lost.
Metadata kept_of_plane(Metadata metadata, const ImageChange& change, const MissingPixels& missing, Work work,
                       const std::optional<std::string>& nodata_of_first) {
  if (nodata_value(metadata) != nodata_of_first)
    throw InvalidArgument(
        "the planes along z declare different nodata values; set MissingOptions::value, or "
        "MissingOptions::none");
  std::vector<std::string> said;
  return kept_of_image(std::move(metadata), change, missing, work, said);
}

/// Warns if a stage mixes channels but the channels are separate images.
void warn_channel_mixing(const Chain& chain, Beginning& begun) {
  const RasterAxis* const c = find_axis(begun.axes, "c");
  const auto mixes = std::ranges::find_if(
      chain.stages(), [](const StagePtr& stage) { return stage->traits().mixes_channels; });
  if (c == nullptr || c->size < 2 || mixes == chain.stages().end()) return;
  begun.geometries.first.warnings.push_back(fmt::format(
      "stage '{}' mixes the channels of a pixel, and the {} of axis c are images of their own, each of which "
      "it is done to; permute the array so that c is behind y and x (permute_file()), and they are in one "
      "pixel",
      (*mixes)->text(), c->size));
  if (begun.geometries.other) begun.geometries.other->warnings = begun.geometries.first.warnings;
}

void warn_about_pages(Beginning& begun) {
  begun.geometries.first.warnings.emplace_back(
      "the pages are filtered as planes along z, and nothing says that they are: OpenOptions::axes zyx does");
  if (begun.geometries.other) begun.geometries.other->warnings = begun.geometries.first.warnings;
}

void warn_about_levels(Reader& source, const Chain& chain, LayoutCandidates& geometries) {
  const std::string said = warning_of_mean_levels(source, chain, geometries.first.layout);
  if (said.empty()) return;
  geometries.first.warnings.push_back(said);
  if (geometries.other) geometries.other->warnings.push_back(said);
}

/// Mirrors the job's images as their orientation requires; returns the chain preceded by the transpose that
/// remains.
Chain oriented(JobEndpoints& ends, const Chain& chain) {
  const std::uint16_t orientation = ends.sources->raster(0)->metadata().orientation;
  ends.sources = mirrored(std::move(ends.sources), orientation);
  return is_transposed(orientation) ? transpose() | chain : chain;
}

/// `is_recorded`: the chain is from a stored plan and already includes what oriented() prepends.
Beginning begin(JobEndpoints& ends, const Chain& typed, const PlanOptions& options, const FileOptions& files,
                bool is_recorded) {
  const OpenOptions open = open_options(files.open, options.missing);
  const bool to_file = !ends.make_sinks;
  Beginning begun;
  if (!ends.sources) begun.job.read.push_back({InputFile(ends.input, InputFile::Folders::taken)});
  for (const std::filesystem::path& image : secondary_images_of(typed))
    begun.job.read.push_back({InputFile(image, InputFile::Folders::taken)});
  const bool is_callers = ends.sources != nullptr;
  open_ends(ends, typed, open, files.formats);
  if (is_callers && open.nodata_of_all)
    ends.sources = with_missing_pixels(std::move(ends.sources), "the source", open);
  const bool takes_pages = filters_along_z(typed) && ends.sources->take_pages_for_planes();
  const Chain before = files.orient ? oriented(ends, typed) : typed;
  const Chain& given = is_recorded ? typed : before;
  begun.job.source = ends.sources->raster(0);
  const Chain of_first =
      given.of_raster(0, ends.sources->axes()).with_mask_channel(begun.job.source->metadata());
  of_first.check_takes(*begun.job.source);
  const ShownChain shown = shown_chain(of_first, *begun.job.source,
                                       to_file           ? seen_of(ends.output, files.formats)
                                       : ends.is_picture ? HowSeen{.seen = Seen::as_picture}
                                                         : HowSeen{},
                                       files.output);
  const Chain& chain = shown.chain;
  begun.job.sources = std::move(ends.sources);
  const ImageSpec result = chain.result_spec(begun.job.source->spec());
  begun.spec = region_spec(result, options.region);
  OutputOptions request = files.output;
  request.region = options.region;
  request.missing = begun.missing = missing_pixels(*begun.job.source, chain, options.missing);
  begun.job.first_has_nodata = begun.missing.value.has_value();
  request.stored = stored_by(chain, *begun.job.source);
  request.keeps_range = chain.keeps_range();
  request.keeps_values = chain.keeps_values();
  const ImageSpec& source = begun.job.source->spec();
  const std::optional<PixelTransform> map = map_of(chain, source);
  const Reader* const like = begun.job.source.get();
  const Format* const format = to_file ? format_of_name(ends.output, files.formats) : nullptr;
  request.holds_mask =
      format != nullptr && format->holds_mask != nullptr && format->holds_mask(ends.output, like->metadata());
  begun.drops_alpha = request.missing.by_value && (!request.holds_mask || request.missing.all_channels);
  if (to_file) {
    begun.geometries = geometries_of(ends.output, result, like, request, map, chain.work(), files.formats);
    warn_about_levels(*begun.job.source, chain, begun.geometries);
  } else {
    begun.geometries.first = output_options(result, like, request, map, chain.work());
  }
  tell_what_is_shown(shown, begun.geometries.first);
  if (begun.geometries.other) tell_what_is_shown(shown, *begun.geometries.other);
  begun.geometries.first.partial = begun.job.partial = files.partial;
  if (begun.geometries.other) begun.geometries.other->partial = files.partial;
  if (like->metadata().mask_channel && !to_file && !begun.drops_alpha)
    begun.geometries.first.warnings.push_back(
        fmt::format("the mask of the source is alpha, channel {}, of the result", result.channels - 1));
  begun.job.change = change_of(*like, result, request, map, chain.work());
  begun.axes = begun.job.sources->axes();
  warn_channel_mixing(chain, begun);
  if (takes_pages) warn_about_pages(begun);
  begun.chain = chain;
  begun.volume = volume_of(chain, *begun.job.sources, options);
  if (begun.volume) {
    begun.planes = {chain, source.extent, result.extent};
    begun.chain = on_volume(chain, source, {source.extent, begun.volume->depth, begun.volume->planes});
    Volumes volumes = volumes_of(std::move(begun.job.sources), *begun.volume);
    begun.of_plane = [all = std::move(volumes.metadata), change = begun.job.change, missing = begun.missing,
                      work = chain.work(),
                      nodata = nodata_value(begun.job.source->metadata())](std::int64_t plane) {
      return kept_of_plane(all(plane), change, missing, work, nodata);
    };
    begun.job.sources = std::move(volumes.set);
    begun.job.source = begun.job.sources->raster(0);
  }
  return begun;
}

/// Removes alpha from each raster's pixels.
class SinksWithoutAlpha final : public RasterSetWriter {
 public:
  SinksWithoutAlpha(std::unique_ptr<RasterSetWriter> sinks, std::optional<double> never)
      : sinks_(std::move(sinks)), never_(never) {}
  std::unique_ptr<Writer> next(const Metadata& metadata) override {
    Metadata without = metadata;
    if (std::exchange(without.mask_channel, false)) without.extra_samples.pop_back();
    return make_without_alpha(sinks_->next(without), never_);
  }
  bool skip_to(std::int64_t raster) override { return sinks_->skip_to(raster); }
  void finish() override { sinks_->finish(); }

 private:
  std::unique_ptr<RasterSetWriter> sinks_;
  std::optional<double> never_;
};

std::unique_ptr<RasterSetWriter> sinks_without_alpha(const JobEndpoints& ends, const Beginning& begun,
                                                     CreateOptions create) {
  ImageSpec spec = begun.spec;
  --spec.channels;
  create.alpha = AlphaInFile::channel;
  if (std::exchange(create.metadata.mask_channel, false)) create.metadata.extra_samples.pop_back();
  const MissingPixels& missing = begun.missing;
  return std::make_unique<SinksWithoutAlpha>(
      ends.make_sinks({spec, begun.axes}, create),
      missing.all_channels ? std::optional(missing.result) : std::nullopt);
}

void make_sinks(ImageJob& job, const JobEndpoints& ends, const Beginning& begun,
                const CreateOptions& create) {
  job.sink.reset();
  job.sinks = begun.drops_alpha ? sinks_without_alpha(ends, begun, create)
                                : ends.make_sinks({begun.spec, begun.axes}, create);
  const MissingPixels missing = begun.missing.of_result();
  if (begun.volume)
    job.sinks = volume_sinks(std::move(job.sinks), begun.spec, *begun.volume, missing, begun.of_plane,
                             create.partial);
  job.sink = fill_levels(job.sinks->next(create.metadata), missing, create.partial);
}

/// Creates the sinks with the candidate that has this layout, or with the first.
void make_sinks_laid_out(ImageJob& job, const JobEndpoints& ends, const Beginning& begun,
                         const std::string& layout) {
  make_sinks(job, ends, begun, begun.geometries.first);
  if (!begun.geometries.other || job.sink->layout().description == layout) return;
  ImageJob other;
  make_sinks(other, ends, begun, *begun.geometries.other);
  if (other.sink->layout().description != layout) return;
  job.sinks = std::move(other.sinks);
  job.sink = std::move(other.sink);
}

}  // namespace

void ImageJob::advance(std::int64_t raster) {
  sink.reset();
  source = sources->raster(raster);
  go_to_raster(plan, raster);
  std::vector<std::string> lost;
  const MissingPixels missing = missing_pixels(*source, plan.given, plan.asked.missing);
  const Metadata metadata = kept_of_image(source->metadata(), change, missing, plan.given.work(), lost);
  if (first_has_nodata && !missing.value)
    add_new(lost, {"images that declare no nodata value, unlike the first, have no missing pixels by it; set "
                   "MissingOptions::value if it is meant for all"});
  sink = fill_levels(sinks->next(metadata), missing.of_result(), partial);
  add_new(plan.warnings, source->layout().warnings);
  add_new(plan.warnings, lost);
  add_new(plan.warnings, sink->layout().warnings);
}

ImageJob plan_job(JobEndpoints ends, const Chain& chain, const PlanOptions& options,
                  const FileOptions& files) {
  Beginning begun = begin(ends, chain, options, files, false);
  ImageJob& job = begun.job;
  if (files.sink_layout.empty()) {
    const std::string note = plan_in_either(begun.geometries, [&](const CreateOptions& create) {
      make_sinks(job, ends, begun, create);
      job.plan = plan(*job.source, *job.sink, begun.chain, options);
    });
    if (!note.empty()) job.plan.notes.push_back(note);
  } else {
    make_sinks_laid_out(job, ends, begun, files.sink_layout);
    job.plan = plan(*job.source, *job.sink, begun.chain, options);
  }
  job.plan.axes = job.sources->axes();
  job.plan.planes = std::move(begun.planes);
  return std::move(job);
}

ImageJob plan_job(JobEndpoints ends, const Chain& chain, const PlanRecord& record, const FileOptions& files) {
  Beginning begun = begin(ends, chain, record.asked, files, true);
  ImageJob& job = begun.job;
  const auto same = [](const RasterAxis& a, const RasterAxis& b) {
    return a.name == b.name && a.size == b.size && a.first == b.first;
  };
  if (!std::ranges::equal(record.axes, job.sources->axes(), same))
    throw InvalidArgument(
        fmt::format("the plan is for another source: its rasters are {} in it and {} now; make it anew",
                    to_string(record.axes), to_string(job.sources->axes())));
  make_sinks_laid_out(job, ends, begun, record.sink_layout);
  job.plan = plan(*job.source, *job.sink, begun.chain, record);
  job.plan.axes = job.sources->axes();
  job.plan.planes = std::move(begun.planes);
  return std::move(job);
}

ImageJob plan_file(const std::filesystem::path& input, const std::filesystem::path& output,
                   const Chain& chain, const PlanOptions& options, const FileOptions& files) {
  return plan_job({input, output}, chain, options, files);
}

ImageJob plan_file(const std::filesystem::path& input, const std::filesystem::path& output,
                   const Chain& chain, const PlanRecord& record, const FileOptions& files) {
  return plan_job({input, output}, chain, record, files);
}

}  // namespace sepconv
