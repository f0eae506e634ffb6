#include "pipeline/job/file_job.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "io/fingerprint.hpp"
#include "io/mirrored_set.hpp"
#include "io/sibling_mask.hpp"
#include "io/without_alpha.hpp"
#include "pipeline/job/display_range.hpp"
#include "pipeline/job/few_values.hpp"
#include "pipeline/job/pyramid_writer.hpp"
#include "pipeline/job/volume_sinks.hpp"
#include "pipeline/stages/on_volume.hpp"
#include "pipeline/stages/stages.hpp"

namespace sepconv {
namespace {

/// A job without its plan, and what is needed to create its sinks.
struct JobSetup {
  ImageJob job;
  ImageSpec spec;  ///< spec of the sink
  MissingPixels missing;
  bool drops_alpha = false;  ///< alpha is removed from the pixels and is not a channel of the sinks
  LayoutCandidates layouts;
  RasterAxes axes{};                   ///< axes of the sinks
  Chain chain{};                       ///< the planned chain: of rasters, or of the volumes built from them
  std::optional<VolumeAxes> volume{};  ///< for a chain that filters along z
  std::optional<FlattenedVolume> planes{};
  PlaneMetadata plane_metadata{};
};

/// The z axis of a chain that filters along z; nullopt for other chains. Throws InvalidArgument.
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
void open_endpoints(JobEndpoints& ends, const Chain& chain, const OpenOptions& options, Formats formats) {
  if (!ends.make_sinks) {
    check_not_read(ends.output, ends.sources ? files_read_by(chain) : files_read_by(ends.input, chain));
    ends.make_sinks = [to = ends.output, formats](const RasterSetSpec& spec, const CreateOptions& create) {
      return create_set(to, spec, create, formats);
    };
  }
  if (!ends.sources) ends.sources = open_set(ends.input, options, formats);
}

/// Metadata of a result's image; descriptions of lost metadata are added to `lost`.
Metadata result_metadata(Metadata metadata, const ImageChange& change, const MissingPixels& missing,
                         std::vector<std::string>& lost) {
  declare(missing, change.values, metadata, lost);
  return metadata.derive_for(change, lost);
}

/// The same for a plane after the first; the first reports what is lost.
Metadata plane_result_metadata(Metadata metadata, const ImageChange& change, const MissingPixels& missing,
                               const std::optional<std::string>& nodata_of_first) {
  if (nodata_value(metadata) != nodata_of_first)
    throw InvalidArgument(
        "the planes along z declare different nodata values; set MissingOptions::value, or "
        "MissingOptions::none");
  std::vector<std::string> ignored;
  return result_metadata(std::move(metadata), change, missing, ignored);
}

void add_warning(LayoutCandidates& layouts, const std::string& warning) {
  layouts.first.warnings.push_back(warning);
  if (layouts.other) layouts.other->warnings.push_back(warning);
}

/// Warns if a stage mixes channels but the channels are separate images.
void warn_channel_mixing(const Chain& chain, JobSetup& setup) {
  const RasterAxis* const c = find_axis(setup.axes, "c");
  const auto mixes = std::ranges::find_if(
      chain.stages(), [](const StagePtr& stage) { return stage->properties().mixes_channels; });
  if (c == nullptr || c->size < 2 || mixes == chain.stages().end()) return;
  add_warning(
      setup.layouts,
      fmt::format("stage '{}' mixes the channels of a pixel, and the {} of axis c are images of their "
                  "own, each of which it is done to; permute the array so that c is behind y and x "
                  "(permute_file()), and they are in one pixel",
                  (*mixes)->text(), c->size));
}

/// Mirrors the images as their orientation requires; returns the chain, after a transpose if one remains.
Chain oriented(JobEndpoints& endpoints, const Chain& chain) {
  const std::uint16_t orientation = endpoints.sources->raster(0)->metadata().orientation;
  endpoints.sources = mirrored(std::move(endpoints.sources), orientation);
  return is_transposed(orientation) ? transpose() | chain : chain;
}

/// `is_recorded`: the chain is from a stored plan and already includes what oriented() prepends.
JobSetup set_up(JobEndpoints& endpoints, const Chain& chain_as_given, const PlanOptions& options,
                const FileOptions& files, bool is_recorded) {
  const OpenOptions open = open_options(files.open, options.missing);
  const bool to_file = !endpoints.make_sinks;
  JobSetup setup;
  if (!endpoints.sources) setup.job.read.push_back({InputFile(endpoints.input, InputFile::Folders::taken)});
  for (const std::filesystem::path& image : secondary_images_of(chain_as_given))
    setup.job.read.push_back({InputFile(image, InputFile::Folders::taken)});
  const bool has_own_source = endpoints.sources != nullptr;
  open_endpoints(endpoints, chain_as_given, open, files.formats);
  if (has_own_source && open.nodata_of_all)
    endpoints.sources = with_missing_pixels(std::move(endpoints.sources), "the source", open);
  const bool takes_pages = filters_along_z(chain_as_given) && endpoints.sources->treat_pages_as_z();
  const Chain oriented_chain = files.orient ? oriented(endpoints, chain_as_given) : chain_as_given;
  const Chain& given = is_recorded ? chain_as_given : oriented_chain;
  setup.job.source = endpoints.sources->raster(0);
  const Chain first_chain =
      given.for_raster(0, endpoints.sources->axes()).with_mask_channel(setup.job.source->metadata());
  first_chain.check_supports(*setup.job.source);
  const DisplayChain shown = display_chain(first_chain, *setup.job.source,
                                           to_file ? display_format_of(endpoints.output, files.formats)
                                           : endpoints.is_picture ? DisplayFormat{.seen = Seen::as_picture}
                                                                  : DisplayFormat{},
                                           files.output);
  const Chain& chain = shown.chain;
  setup.job.sources = std::move(endpoints.sources);
  const ImageSpec result = chain.result_spec(setup.job.source->spec());
  setup.spec = region_spec(result, options.region);
  OutputOptions request = files.output;
  request.region = options.region;
  request.missing = setup.missing = missing_pixels(*setup.job.source, chain, options.missing);
  setup.job.first_has_nodata = setup.missing.value.has_value();
  request.stored = stored_type_of(chain, *setup.job.source);
  const ImageSpec& source = setup.job.source->spec();
  const Reader* const source_reader = setup.job.source.get();
  request.holds_mask = to_file && holds_mask(endpoints.output, *source_reader, files.formats);
  setup.drops_alpha = request.missing.replaces_mask && (!request.holds_mask || request.missing.all_channels);
  const ImageChange& change = setup.job.change = image_change_of(*source_reader, chain, request);
  if (to_file) {
    setup.layouts =
        layout_candidates_of(endpoints.output, result, source_reader, request, change, files.formats);
    if (const std::string warning =
            averaged_levels_warning(*setup.job.source, chain, setup.layouts.first.layout);
        !warning.empty())
      add_warning(setup.layouts, warning);
  } else {
    setup.layouts.first = output_options(result, source_reader, request, change);
  }
  apply_display_chain(shown, setup.layouts.first);
  if (setup.layouts.other) apply_display_chain(shown, *setup.layouts.other);
  setup.layouts.first.checkpoint = setup.job.checkpoint = files.checkpoint;
  if (setup.layouts.other) setup.layouts.other->checkpoint = files.checkpoint;
  if (source_reader->metadata().mask_channel && !to_file && !setup.drops_alpha)
    add_warning(setup.layouts, fmt::format("the mask of the source is alpha, channel {}, of the result",
                                           result.channels - 1));
  setup.axes = setup.job.sources->axes();
  warn_channel_mixing(chain, setup);
  if (takes_pages)
    add_warning(setup.layouts,
                "the pages are filtered as planes along z, although the file does not say that they are: "
                "OpenOptions::axes zyx does");
  setup.chain = chain;
  setup.volume = volume_of(chain, *setup.job.sources, options);
  if (setup.volume) {
    setup.planes = {chain, source.extent, result.extent};
    setup.chain = on_volume(chain, source, {source.extent, setup.volume->depth, setup.volume->planes});
    Volumes volumes = volumes_of(std::move(setup.job.sources), *setup.volume);
    setup.plane_metadata = [metadata_of = std::move(volumes.metadata), change = setup.job.change,
                            missing = setup.missing,
                            nodata = nodata_value(setup.job.source->metadata())](std::int64_t plane) {
      return plane_result_metadata(metadata_of(plane), change, missing, nodata);
    };
    setup.job.sources = std::move(volumes.set);
    setup.job.source = setup.job.sources->raster(0);
  }
  return setup;
}

/// Removes alpha from each raster's pixels.
class SinksWithoutAlpha final : public RasterSetWriter {
 public:
  SinksWithoutAlpha(std::unique_ptr<RasterSetWriter> sinks, std::optional<double> reserved_value)
      : sinks_(std::move(sinks)), reserved_value_(reserved_value) {}
  std::unique_ptr<Writer> next(const Metadata& metadata) override {
    Metadata without = metadata;
    if (std::exchange(without.mask_channel, false)) without.extra_samples.pop_back();
    return make_without_alpha(sinks_->next(without), reserved_value_);
  }
  bool skip_to(std::int64_t raster) override { return sinks_->skip_to(raster); }
  void finish() override { sinks_->finish(); }

 private:
  std::unique_ptr<RasterSetWriter> sinks_;
  std::optional<double> reserved_value_;
};

std::unique_ptr<RasterSetWriter> sinks_without_alpha(const JobEndpoints& endpoints, const JobSetup& setup,
                                                     CreateOptions create) {
  ImageSpec spec = setup.spec;
  --spec.channels;
  create.alpha = AlphaInFile::channel;
  if (std::exchange(create.metadata.mask_channel, false)) create.metadata.extra_samples.pop_back();
  const MissingPixels& missing = setup.missing;
  return std::make_unique<SinksWithoutAlpha>(
      endpoints.make_sinks({spec, setup.axes}, create),
      missing.all_channels ? std::optional(missing.result) : std::nullopt);
}

void make_sinks(ImageJob& job, const JobEndpoints& endpoints, const JobSetup& setup,
                const CreateOptions& create) {
  job.sink.reset();
  job.sinks = setup.drops_alpha ? sinks_without_alpha(endpoints, setup, create)
                                : endpoints.make_sinks({setup.spec, setup.axes}, create);
  const MissingPixels missing = setup.missing.of_result();
  if (setup.volume)
    job.sinks = volume_sinks(std::move(job.sinks), setup.spec, *setup.volume, missing, setup.plane_metadata,
                             create.checkpoint);
  job.sink = fill_levels(job.sinks->next(create.metadata), missing, create.checkpoint);
}

/// Creates the sinks with the candidate that has this layout, or with the first.
void make_sinks_with_layout(ImageJob& job, const JobEndpoints& endpoints, const JobSetup& setup,
                            const std::string& layout) {
  make_sinks(job, endpoints, setup, setup.layouts.first);
  if (!setup.layouts.other || job.sink->layout().description == layout) return;
  ImageJob other;
  make_sinks(other, endpoints, setup, *setup.layouts.other);
  if (other.sink->layout().description != layout) return;
  job.sinks = std::move(other.sinks);
  job.sink = std::move(other.sink);
}

}  // namespace

void ImageJob::advance(std::int64_t raster) {
  sink.reset();
  source = sources->raster(raster);
  plan.given = plan.given.for_raster(raster, plan.axes);
  plan.chain = plan.chain.for_raster(raster, plan.axes);
  plan.graph = Graph(plan.chain, plan.source());
  std::vector<std::string> lost;
  plan.missing = missing_pixels(*source, plan.given, plan.asked.missing);
  const Metadata metadata = result_metadata(source->metadata(), change, plan.missing, lost);
  if (first_has_nodata && !plan.missing.value)
    append_unique(lost, {"images that declare no nodata value, unlike the first, have no missing pixels by "
                         "it; set MissingOptions::value if it is meant for all"});
  sink = fill_levels(sinks->next(metadata), plan.missing.of_result(), checkpoint);
  plan.missing = plan.missing.stored_in(sink->layout());
  append_unique(plan.warnings, source->layout().warnings);
  append_unique(plan.warnings, lost);
  append_unique(plan.warnings, sink->layout().warnings);
}

ImageJob plan_job(JobEndpoints endpoints, const Chain& chain, const PlanOptions& options,
                  const FileOptions& files) {
  JobSetup setup = set_up(endpoints, chain, options, files, false);
  ImageJob& job = setup.job;
  if (files.sink_layout.empty()) {
    const std::string note = plan_with_fallback(setup.layouts, [&](const CreateOptions& create) {
      make_sinks(job, endpoints, setup, create);
      job.plan = plan(*job.source, *job.sink, setup.chain, setup.missing, options);
    });
    if (!note.empty()) job.plan.notes.push_back(note);
  } else {
    make_sinks_with_layout(job, endpoints, setup, files.sink_layout);
    job.plan = plan(*job.source, *job.sink, setup.chain, setup.missing, options);
  }
  job.plan.axes = job.sources->axes();
  job.plan.planes = std::move(setup.planes);
  return std::move(job);
}

ImageJob plan_job(JobEndpoints endpoints, const Chain& chain, const PlanRecord& record,
                  const FileOptions& files) {
  JobSetup setup = set_up(endpoints, chain, record.asked, files, true);
  ImageJob& job = setup.job;
  const auto same = [](const RasterAxis& a, const RasterAxis& b) {
    return a.name == b.name && a.size == b.size && a.first == b.first;
  };
  if (!std::ranges::equal(record.axes, job.sources->axes(), same))
    throw InvalidArgument(
        fmt::format("the plan is for another source: its rasters are {} in it and {} now; create it again",
                    to_string(record.axes), to_string(job.sources->axes())));
  make_sinks_with_layout(job, endpoints, setup, record.sink_layout);
  job.plan = plan(*job.source, *job.sink, setup.chain, setup.missing, record);
  job.plan.axes = job.sources->axes();
  job.plan.planes = std::move(setup.planes);
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
