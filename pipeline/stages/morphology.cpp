// Morphology with flat rectangles and disks: erode, dilate, opening, closing, tophat, blackhat, local_range.
#include <fmt/format.h>

#include <algorithm>

#include "pipeline/stages/expression.hpp"
#include "pipeline/stages/sigma_keys.hpp"
#include "pipeline/stages/stages.hpp"
#include "pipeline/stages/volume_filter_stage.hpp"
#include "pipeline/stages/window_stage.hpp"

namespace sepconv {
namespace {

/// A sequence of windows, and the result computed from them.
struct Morphology {
  enum class Result : std::uint8_t {
    last,             ///< the last window
    input_less_last,  ///< input - last
    last_less_input,  ///< last - input
    first_less_last,  ///< of two windows that both read the input
  };
  std::vector<Window::Op> ops;
  Result result = Result::last;
};

template <class Options>
struct MorphologyNamed;
template <>
struct MorphologyNamed<ErodeOptions> {
  static constexpr std::string_view kName = "erode", kFormerName = "";
  static constexpr std::string_view kExample = "erode:radius=3";
  static constexpr std::string_view kHelp =
      "minimum of a window of (2 radius + 1) x (2 radius_y + 1) pixels, or of a disk";
  static Morphology morphology() { return {{kErosion}}; }
};
template <>
struct MorphologyNamed<DilateOptions> {
  static constexpr std::string_view kName = "dilate", kFormerName = "";
  static constexpr std::string_view kExample = "dilate:radius=3";
  static constexpr std::string_view kHelp =
      "maximum of a window of (2 radius + 1) x (2 radius_y + 1) pixels, or of a disk";
  static Morphology morphology() { return {{kDilation}}; }
};
template <>
struct MorphologyNamed<OpeningOptions> {
  static constexpr std::string_view kName = "opening", kFormerName = "open";
  static constexpr std::string_view kExample = "opening:radius=4,shape=disk";
  static constexpr std::string_view kHelp =
      "erosion, then dilation: removes bright details smaller than the window";
  static Morphology morphology() { return {{kErosion, kDilation}}; }
};
template <>
struct MorphologyNamed<ClosingOptions> {
  static constexpr std::string_view kName = "closing", kFormerName = "close";
  static constexpr std::string_view kExample = "closing:radius=3";
  static constexpr std::string_view kHelp =
      "dilation, then erosion: removes dark details smaller than the window";
  static Morphology morphology() { return {{kDilation, kErosion}}; }
};
template <>
struct MorphologyNamed<TophatOptions> {
  static constexpr std::string_view kName = "tophat", kFormerName = "";
  static constexpr std::string_view kExample = "tophat:radius=9";
  static constexpr std::string_view kHelp = "image minus its opening: bright details smaller than the window";
  static Morphology morphology() { return {{kErosion, kDilation}, Morphology::Result::input_less_last}; }
};
template <>
struct MorphologyNamed<BlackhatOptions> {
  static constexpr std::string_view kName = "blackhat", kFormerName = "";
  static constexpr std::string_view kExample = "blackhat:radius=9";
  static constexpr std::string_view kHelp = "closing minus the image: dark details smaller than the window";
  static Morphology morphology() { return {{kDilation, kErosion}, Morphology::Result::last_less_input}; }
};

template <>
struct MorphologyNamed<LocalRangeOptions> {
  static constexpr std::string_view kName = "local_range", kFormerName = "";
  static constexpr std::string_view kExample = "local_range:radius=2";
  static constexpr std::string_view kHelp = "maximum minus minimum of a window";
  static Morphology morphology() { return {{kDilation, kErosion}, Morphology::Result::first_less_last}; }
};

template <class Options>
StagePtr morphology_of(const Options& options);

template <class Options>
Keys morphology_keys(Options& options) {
  using Shape = Window::Shape;
  const bool subtracts = MorphologyNamed<Options>::morphology().result != Morphology::Result::last;
  return joined(
      {window_keys(options, subtracts ? MissingSupport::no_fill : MissingSupport::all),
       {radius_z_key(options.radius_z, kEachPlaneSeparately),
        {.name = "shape",
         .value = choice(options.shape, {{"box", Shape::box}, {"disk", Shape::disk}}),
         .words =
             "box: the whole window. disk: its pixels with (x / radius)^2 + (y / radius_y)^2 <= 1, with radius_z a cylinder"}}});
}

/// Minimum or maximum along z of a stack, then within planes. If missing pixels stay missing, the windows use
/// nodata=fill, which includes all valid pixels, and the stage then restores the missing pixels of its
/// input.
template <class Options>
StagePtr volume_window(const Options& options, const StageArguments& stage_args) {
  const auto passes = [&](std::optional<MissingPolicy> missing) -> VolumePasses {
    Options plane = options;
    plane.nodata = missing;
    plane.radius_z.reset();
    Options along_z = plane;
    along_z.radius = 0;
    along_z.radius_y = options.radius_z;
    along_z.shape = Window::Shape::box;
    return {morphology_of(plane), morphology_of(along_z)};
  };
  std::optional<NormalizedPasses> normalized;
  if (options.nodata == MissingPolicy::ignore)
    normalized = NormalizedPasses{.values = passes(MissingPolicy::fill)};
  return make_volume_passes(stage_args.text(), passes(options.nodata), std::move(normalized),
                            ignoring_stage(options, &morphology_of<Options>));
}

/// Windows in sequence, and the difference between the last and the input; or the difference of two windows.
template <class Options>
StagePtr window_sequence(const Options& options, const StageArguments& stage_args) {
  using Result = Morphology::Result;
  const Morphology morphology = MorphologyNamed<Options>::morphology();
  const auto make_window = [&](auto window_options) {
    window_options = {options.radius, options.radius_y, options.radius_z,
                      options.border, options.nodata,   options.shape};
    return morphology_of(window_options);
  };
  const bool reads_input = morphology.result == Result::first_less_last;
  Expression expression;
  std::vector<Expression::Value> values{Expression::Value::input};
  for (const Window::Op op : morphology.ops)
    values.push_back(
        expression.apply(op == kErosion ? make_window(ErodeOptions()) : make_window(DilateOptions()),
                         reads_input ? Expression::Value::input : values.back()));
  const Expression::Value last = values.back();
  const PointwiseOp difference{.kind = PointwiseOp::Kind::difference,
                               .propagates_nodata = reads_input || options.nodata.has_value()};
  if (morphology.result == Result::input_less_last)
    expression.combine(difference, Expression::Value::input, last);
  if (morphology.result == Result::last_less_input)
    expression.combine(difference, last, Expression::Value::input);
  if (reads_input)  // the absolute value changes nothing, and says that no value is negative
    expression.apply(sepconv::abs(), expression.combine(difference, values[1], last));
  return expression.stage(stage_args.text(),
                          options.nodata ? std::nullopt : std::optional(MissingPolicy::ignore));
}

template <class Options>
StagePtr make_morphology(const Options& options, const StageArguments& stage_args) {
  const Morphology morphology = MorphologyNamed<Options>::morphology();
  if (options.nodata == MissingPolicy::fill && morphology.result != Morphology::Result::last)
    stage_args.refuse("nodata", "this stage cannot fill; use nodata=ignore");
  const std::int64_t radius_y = options.radius_y.value_or(options.radius);
  if (!options.radius_z && options.shape == Window::Shape::disk &&
      std::max(options.radius, radius_y) > kMaxDiskRadius)
    stage_args.refuse("shape", fmt::format("a disk's radius is at most {}; take shape=box", kMaxDiskRadius));
  if (morphology.ops.size() > 1) return window_sequence(options, stage_args);
  if (options.radius_z) return volume_window(options, stage_args);
  const auto remake = [options, radius_y](bool transposed, bool ignores) {
    Options other = options;
    if (transposed) other.radius = radius_y, other.radius_y = options.radius;
    if (ignores) other.nodata = MissingPolicy::ignore;
    return morphology_of(other);
  };
  return std::make_shared<WindowStage>(stage_args.text(), morphology.ops.front(),
                                       Neighbourhood{options.radius, radius_y, options.border.mode},
                                       options.shape, options.border.value, options.nodata, remake);
}

template <class Options>
constexpr StageKind<Options> kMorphology{
    MorphologyNamed<Options>::kName, MorphologyNamed<Options>::kHelp, MorphologyNamed<Options>::kExample,
    morphology_keys<Options>,        make_morphology<Options>,        MorphologyNamed<Options>::kFormerName};

template <class Options>
StagePtr morphology_of(const Options& options) {
  return kMorphology<Options>(options);
}

}  // namespace

template <>
StageEntry ErodeOptions::entry() {
  return kMorphology<ErodeOptions>.entry();
}
template <>
StageEntry DilateOptions::entry() {
  return kMorphology<DilateOptions>.entry();
}
template <>
StageEntry OpeningOptions::entry() {
  return kMorphology<OpeningOptions>.entry();
}
template <>
StageEntry ClosingOptions::entry() {
  return kMorphology<ClosingOptions>.entry();
}
template <>
StageEntry TophatOptions::entry() {
  return kMorphology<TophatOptions>.entry();
}
template <>
StageEntry BlackhatOptions::entry() {
  return kMorphology<BlackhatOptions>.entry();
}

template <>
StageEntry LocalRangeOptions::entry() {
  return kMorphology<LocalRangeOptions>.entry();
}

StagePtr erode(const ErodeOptions& options) { return morphology_of(options); }
StagePtr dilate(const DilateOptions& options) { return morphology_of(options); }
StagePtr opening(const OpeningOptions& options) { return morphology_of(options); }
StagePtr closing(const ClosingOptions& options) { return morphology_of(options); }
StagePtr tophat(const TophatOptions& options) { return morphology_of(options); }
StagePtr blackhat(const BlackhatOptions& options) { return morphology_of(options); }
StagePtr local_range(const LocalRangeOptions& options) { return morphology_of(options); }

}  // namespace sepconv
