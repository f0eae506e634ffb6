// Mean and standard deviation of a window: box, stddev, local_normalize.
#include "pipeline/stages/box_statistics_stage.hpp"
#include "pipeline/stages/on_volume.hpp"
#include "pipeline/stages/sigma_keys.hpp"
#include "pipeline/stages/stages.hpp"
#include "pipeline/stages/volume_filter_stage.hpp"

namespace sepconv {
namespace {

template <class Options>
struct MomentsNamed;
template <>
struct MomentsNamed<BoxOptions> {
  static constexpr std::string_view kName = "box", kFormerName = "mean";
  static constexpr std::string_view kExample = "box:radius=4";
  static constexpr std::string_view kHelp = "mean of a window of (2 radius + 1) x (2 radius_y + 1) pixels";
  static constexpr Moment kMoment = Moment::mean;
};
template <>
struct MomentsNamed<StddevOptions> {
  static constexpr std::string_view kName = "stddev", kFormerName = "std";
  static constexpr std::string_view kExample = "stddev:radius=4";
  static constexpr std::string_view kHelp =
      "standard deviation of a window of (2 radius + 1) x (2 radius_y + 1) pixels";
  static constexpr Moment kMoment = Moment::deviation;
};
template <>
struct MomentsNamed<LocalNormalizeOptions> {
  static constexpr std::string_view kName = "local_normalize", kFormerName = "normalize";
  static constexpr std::string_view kExample = "local_normalize:radius=16,min_std=2";
  static constexpr std::string_view kHelp = "local contrast: (pixel - mean) / standard deviation";
  static constexpr Moment kMoment = Moment::contrast;
};

template <class Options>
StagePtr moments_of(const Options& options);

template <class Options>
Keys moments_keys(Options& options) {
  constexpr bool kDivides = std::is_same_v<Options, LocalNormalizeOptions>;
  Keys keys = joined({window_keys(options, kDivides ? MissingSupport::no_fill : MissingSupport::all),
                      {radius_z_key(options.radius_z, kEachPlaneSeparately)}});
  if constexpr (kDivides)
    keys.push_back(
        {.name = "min_std",
         .value = &options.min_std,
         .words = "lower bound of the standard deviation, so that noise in flat areas is not amplified",
         .range = at_least(0),
         .former_name = "least"});
  return keys;
}

/// The mean over a window that also extends along z of a stack.
StagePtr volume_mean(const BoxOptions& options, const StageArguments& stage_args) {
  const auto passes = [=](const Border& border, std::optional<MissingPolicy> missing) -> VolumePasses {
    BoxOptions plane = options;
    plane.border = border, plane.nodata = missing;
    plane.radius_z.reset();
    BoxOptions along_z = plane;
    along_z.radius = 0, along_z.radius_y = options.radius_z;
    return {moments_of(plane), moments_of(along_z)};
  };
  std::optional<NormalizedPasses> normalized;
  if (options.nodata.value_or(MissingPolicy::propagate) != MissingPolicy::propagate)
    normalized = {.values = passes(options.border, {}),
                  .weights = [=](const Border& border) { return passes(border, {}); },
                  .border = options.border,
                  .fills = options.nodata == MissingPolicy::fill};
  return make_volume_passes(stage_args.text(), passes(options.border, options.nodata), std::move(normalized),
                            ignoring_stage(options, &moments_of<BoxOptions>));
}

template <class Options>
StagePtr volume_deviation(const Options& options, const StageArguments& stage_args,
                          const MomentsOptions& moments) {
  Options plane = options;
  plane.radius_z.reset();
  BoxOptions means{.radius = options.radius,
                   .radius_y = options.radius_y,
                   .radius_z = options.radius_z,
                   .border = options.border,
                   .nodata = options.nodata};
  BoxOptions squares = means;
  squares.border.value *= squares.border.value;
  const SpreadWindows windows{
      .border = options.border,
      .radius_x = moments.neighbourhood.radius_x,
      .radius_y = moments.neighbourhood.radius_y,
      .radius_z = *options.radius_z,
      .ignores_nan = options.nodata.value_or(MissingPolicy::propagate) != MissingPolicy::propagate};
  const StagePtr in_plane = moments_of(plane), mean = moments_of(means), square = moments_of(squares);
  const auto nodes = [=, declaration = in_plane->declaration()](const ImageSpec& of,
                                                                const VolumeShape& shape) {
    const VolumeDeviation deviation{.means = on_volume(mean, of, of.extent, shape),
                                    .squares = on_volume(square, of, of.extent, shape),
                                    .windows = windows,
                                    .contrast = moments.moment == Moment::contrast,
                                    .min_deviation = moments.min_deviation};
    return std::vector<StageNode>{{make_volume_deviation(declaration, deviation, of.extent)}};
  };
  return make_volume_filter_stage({stage_args.text(), in_plane->traits(), in_plane->properties()},
                                  {in_plane, nodes, ignoring_stage(options, &moments_of<Options>)});
}

template <class Options>
StagePtr make_moments(const Options& options, const StageArguments& stage_args) {
  MomentsOptions moments{
      .moment = MomentsNamed<Options>::kMoment,
      .neighbourhood = {options.radius, options.radius_y.value_or(options.radius), options.border.mode},
      .value = options.border.value,
      .nodata = options.nodata};
  if constexpr (std::is_same_v<Options, LocalNormalizeOptions>) moments.min_deviation = options.min_std;
  if (options.nodata == MissingPolicy::fill && moments.moment == Moment::contrast)
    stage_args.refuse("nodata", "a missing pixel has no contrast; take nodata=ignore");
  if constexpr (std::is_same_v<Options, BoxOptions>) {
    if (options.radius_z) return volume_mean(options, stage_args);
  } else if (options.radius_z) {
    return volume_deviation(options, stage_args, moments);
  }
  return std::make_shared<MomentsStage>(stage_args.text(), moments,
                                        ignoring_stage(options, &moments_of<Options>));
}

template <class Options>
constexpr StageKind<Options> kMoments{MomentsNamed<Options>::kName,    MomentsNamed<Options>::kHelp,
                                      MomentsNamed<Options>::kExample, moments_keys<Options>,
                                      make_moments<Options>,           MomentsNamed<Options>::kFormerName};

template <class Options>
StagePtr moments_of(const Options& options) {
  return kMoments<Options>(options);
}

}  // namespace

StageEntry BoxOptions::entry() { return kMoments<BoxOptions>.entry(); }
StageEntry StddevOptions::entry() { return kMoments<StddevOptions>.entry(); }
StageEntry LocalNormalizeOptions::entry() { return kMoments<LocalNormalizeOptions>.entry(); }

StagePtr box(const BoxOptions& options) { return moments_of(options); }
StagePtr stddev(const StddevOptions& options) { return moments_of(options); }
StagePtr local_normalize(const LocalNormalizeOptions& options) { return moments_of(options); }

}  // namespace sepconv
