// sobel, scharr, derivative: differences along one axis. gradient: the magnitude of the gradient vector.
#include "kernels/conv/taps.hpp"
#include "pipeline/stages/sigma_keys.hpp"
#include "pipeline/stages/stages.hpp"

namespace sepconv {
namespace {

constexpr std::string_view kOnlyWithGaussian = "operator=gaussian";

Key axis_key(Axis& axis) {
  return {.name = "axis",
          .value = choice(axis, {{"x", Axis::x}, {"y", Axis::y}, {"z", Axis::z}}),
          .words = "x: from column to column. y: from row to row. z: from plane to plane of a stack"};
}

/// `along`: taps along the axis; `across`: taps along the other axis, or along both others for z. taps.row
/// applies along x.
template <class Options>
StagePtr make_directional(const StageArguments& stage_args, const Options& options, std::vector<double> along,
                          std::vector<double> across) {
  if (options.axis == Axis::z) return make_filter(stage_args, options, {across, across}, std::move(along));
  if (options.axis == Axis::y) std::swap(along, across);
  return make_filter(stage_args, options, {std::move(along), std::move(across)});
}

template <class Options>
Keys keys(Options& options) {
  return joined({{axis_key(options.axis)}, convolving_keys(options, MissingSupport::propagate_only)});
}

StagePtr make(const SobelOptions& options, const StageArguments& stage_args) {
  return make_directional(stage_args, options, difference_taps(), sobel_smoothing_taps());
}

StagePtr make(const ScharrOptions& options, const StageArguments& stage_args) {
  return make_directional(stage_args, options, difference_taps(), scharr_smoothing_taps());
}

Keys keys(DerivativeOptions& options) {
  return joined(
      {{{.name = "order",
         .value = &options.order,
         .words = "order of the derivative",
         .range = between(1, 16)},
        axis_key(options.axis),
        length_key(
            "radius", &options.radius,
            "radius of the kernel, at least (order + 1) / 2; a larger one smooths with binomial weights along the axis",
            between(0, 64))},
       convolving_keys(options, MissingSupport::propagate_only)});
}

StagePtr make(const DerivativeOptions& options, const StageArguments& stage_args) {
  const std::int64_t min_radius = (options.order + 1) / 2;
  const std::int64_t radius = options.radius.value_or(min_radius);
  if (radius < min_radius) stage_args.refuse("radius", "an n-th derivative needs a radius of at least n / 2");
  return make_directional(stage_args, options, derivative_taps(static_cast<int>(options.order), radius), {});
}

using Operator = GradientOptions::Operator;
using Axes = GradientOptions::Axes;

Keys keys(GradientOptions& options) {
  return joined({{{.name = "operator",
                   .value = choice(options.op, {{"sobel", Operator::sobel},
                                                {"scharr", Operator::scharr},
                                                {"gaussian", Operator::gaussian}}),
                   .words = "derivative filter"},
                  {.name = "axes",
                   .value = choice(options.axes, {{"xy", Axes::xy}, {"xyz", Axes::xyz}}),
                   .words = "xy: each plane by itself. xyz: also from plane to plane of a stack"}},
                 width_keys(options, kOnlyWithGaussian, above(0)),
                 {length_key("sigma_z", &options.sigma_z,
                             "standard deviation along z, with axes=xyz; default: as along x", above(0),
                             false, kOnlyWithGaussian),
                  radius_z_key(options.radius_z, "radius along z, with axes=xyz; default: from truncate",
                               kOnlyWithGaussian)},
                 convolving_keys(options, MissingSupport::propagate_only)});
}

/// Taps along one axis: `difference` if the derivative is along it, otherwise `smooth`.
struct GradientTaps {
  std::vector<double> difference, smooth;
};

StagePtr make(const GradientOptions& options, const StageArguments& stage_args) {
  const bool is_gaussian = options.op == Operator::gaussian;
  GradientTaps x{difference_taps(),
                 options.op == Operator::scharr ? scharr_smoothing_taps() : sobel_smoothing_taps()};
  GradientTaps y = x, z = x;
  if (is_gaussian) {
    const GaussianWidth width = width_of(options, stage_args);
    const SeparableTaps differences = width.taps(1, 1), smooth = width.taps();
    x = {differences.row, smooth.row}, y = {differences.col, smooth.col};
  }
  const bool filters_along_z = options.axes == Axes::xyz;
  if (!filters_along_z && (options.sigma_z || options.radius_z))
    stage_args.refuse(options.sigma_z ? "sigma_z" : "radius_z", "it goes only with axes=xyz");
  if (filters_along_z && is_gaussian) {
    const double sigma = options.sigma_z.value_or(*options.sigma);
    z = {taps_along_z(options, stage_args, "sigma_z", sigma, 1),
         taps_along_z(options, stage_args, "sigma_z", sigma)};
  }
  std::vector<StagePtr> branches;
  if (filters_along_z) {
    branches = {make_filter(stage_args, options, {x.smooth, y.smooth}, z.difference),
                make_filter(stage_args, options, {x.smooth, y.difference}, z.smooth),
                make_filter(stage_args, options, {x.difference, y.smooth}, z.smooth)};
  } else {
    branches = {make_filter(stage_args, options, {x.difference, y.smooth}),
                make_filter(stage_args, options, {x.smooth, y.difference})};
  }
  return joined_filters(stage_args, branches, {.kind = PointwiseOp::Kind::magnitude}, options.nodata,
                        MissingPolicy::propagate);
}

constexpr StageKind<SobelOptions> kSobel{
    "sobel", "Sobel derivative: (-1 0 1) along the axis, (1 2 1) across it", "sobel:axis=x", keys, make};
constexpr StageKind<ScharrOptions> kScharr{
    "scharr", "Scharr derivative: (-1 0 1) along the axis, (3 10 3) across it", "scharr:axis=y", keys, make};
constexpr StageKind<DerivativeOptions> kDerivative{
    "derivative", "central difference of any order along one axis, nothing across",
    "derivative:order=2,axis=y", keys, make};
constexpr StageKind<GradientOptions> kGradient{
    "gradient", "gradient magnitude: sqrt(gx^2 + gy^2), with gz^2 for axes=xyz", "gradient:operator=scharr",
    keys, make};

}  // namespace

StagePtr sobel(const SobelOptions& options) { return kSobel(options); }
StagePtr scharr(const ScharrOptions& options) { return kScharr(options); }
StagePtr derivative(const DerivativeOptions& options) { return kDerivative(options); }
StagePtr gradient(const GradientOptions& options) { return kGradient(options); }
StageEntry SobelOptions::entry() { return kSobel.entry(); }
StageEntry ScharrOptions::entry() { return kScharr.entry(); }
StageEntry DerivativeOptions::entry() { return kDerivative.entry(); }
StageEntry GradientOptions::entry() { return kGradient.entry(); }

}  // namespace sepconv
