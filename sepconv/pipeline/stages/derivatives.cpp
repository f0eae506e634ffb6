// sobel, scharr, derivative: differences along one axis; gradient: the length of the vector of both.
#include "sepconv/kernels/conv/taps.hpp"
#include "sepconv/pipeline/stages/blur_width.hpp"
#include "sepconv/pipeline/stages/filter_stage.hpp"
#include "sepconv/pipeline/stages/stages.hpp"

namespace sepconv {
namespace {

Key axis_key(Axis& axis) {
  return {.name = "axis",
          .value = choice(axis, {{"x", Axis::x}, {"y", Axis::y}, {"z", Axis::z}}),
          .words = "x: from column to column; y: from row to row; z: from plane to plane of a stack"};
}

/// `along` the axis, `across` it: taps.row run along x. Of z, across are both others.
template <class Options>
StagePtr make_directed(const Spelling& spelling, const Options& options, std::vector<double> along,
                       std::vector<double> across) {
  if (options.axis == Axis::z) return make_deep_filter(spelling, options, {across, across}, std::move(along));
  if (options.axis == Axis::y) std::swap(along, across);
  return make_filter(spelling, options, {{std::move(along), std::move(across)}});
}

template <class Options>
Keys keys(Options& options) {
  return joined({{axis_key(options.axis)}, convolving_keys(options)});
}

StagePtr make(const SobelOptions& options, const Spelling& spelling) {
  return make_directed(spelling, options, difference_taps(), sobel_smoothing_taps());
}

StagePtr make(const ScharrOptions& options, const Spelling& spelling) {
  return make_directed(spelling, options, difference_taps(), scharr_smoothing_taps());
}

Keys keys(DerivativeOptions& options) {
  return joined({{{.name = "order",
                   .value = &options.order,
                   .words = "order of the derivative",
                   .range = between(1, 16)},
                  axis_key(options.axis),
                  length_key("radius", &options.radius,
                             "what exceeds (order + 1) / 2, the least, is binomial smoothing along the axis",
                             between(0, 64))},
                 convolving_keys(options)});
}

StagePtr make(const DerivativeOptions& options, const Spelling& spelling) {
  const std::int64_t least_radius = (options.order + 1) / 2;
  const std::int64_t radius = options.radius.value_or(least_radius);
  if (radius < least_radius) spelling.refuse("radius", "an n-th derivative needs a radius of at least n / 2");
  return make_directed(spelling, options, derivative_taps(static_cast<int>(options.order), radius), {});
}

using Operator = GradientOptions::Operator;

Keys keys(GradientOptions& options) {
  return joined({{{.name = "operator",
                   .value = choice(options.op, {{"sobel", Operator::sobel},
                                                {"scharr", Operator::scharr},
                                                {"gaussian", Operator::gaussian}}),
                   .words = "what takes the differences"}},
                 width_keys(options, "operator=gaussian"),
                 convolving_keys(options)});
}

StagePtr make(const GradientOptions& options, const Spelling& spelling) {
  SeparableTaps x;
  SeparableTaps y;
  if (options.op == Operator::gaussian) {
    const GaussianWidth width = width_of(options, spelling);
    x = width.taps(1, 0);
    y = width.taps(0, 1);
  } else {
    x = {difference_taps(),
         options.op == Operator::scharr ? scharr_smoothing_taps() : sobel_smoothing_taps()};
    y = {x.col, x.row};
  }
  return make_filter(spelling, options, {x, y}, {.kind = PointwiseOp::Kind::magnitude});
}

constexpr StageKind<SobelOptions> kSobel{"sobel", "(-1 0 1) along the axis, (1 2 1) across", "sobel:axis=x",
                                         keys, make};
constexpr StageKind<ScharrOptions> kScharr{"scharr", "(-1 0 1) along the axis, (3 10 3) across",
                                           "scharr:axis=y", keys, make};
constexpr StageKind<DerivativeOptions> kDerivative{
    "derivative", "central difference of any order along one axis, nothing across",
    "derivative:order=2,axis=y", keys, make};
constexpr StageKind<GradientOptions> kGradient{"gradient",
                                               "length of the gradient: sqrt(gx^2 + gy^2), in one pass",
                                               "gradient:operator=scharr", keys, make};

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
