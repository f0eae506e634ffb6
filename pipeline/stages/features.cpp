// hessian, structure_tensor, sato, guided: expressions of filters and windows.
#include "kernels/conv/taps.hpp"
#include "pipeline/stages/expression.hpp"
#include "pipeline/stages/feature_stage.hpp"
#include "pipeline/stages/sigma_keys.hpp"
#include "pipeline/stages/stages.hpp"

namespace sepconv {
namespace {

using Kind = PointwiseOp::Kind;
using Value = Expression::Value;

/// An expression whose operations propagate missing pixels.
class Features {
 public:
  Value apply(StagePtr stage, Value input = Value::input) {
    return expression_.apply(std::move(stage), input);
  }
  Value combine(PointwiseOp op, Value a, Value b) {
    op.propagates_nodata = true;
    return expression_.combine(op, a, b);
  }
  /// A missing pixel in the window makes the result missing.
  StagePtr propagating(const StageArguments& stage_args, std::optional<MissingPolicy> nodata) const {
    FeatureTraits traits{.propagates = true};
    if (!nodata) traits.default_nodata = MissingPolicy::propagate;
    return std::make_shared<FeatureStage>(stage_args.text(), expression_.nodes(), std::move(traits));
  }
  StagePtr stage(const StageArguments& stage_args, FeatureTraits traits) const {
    return std::make_shared<FeatureStage>(stage_args.text(), expression_.nodes(), std::move(traits));
  }

 private:
  Expression expression_;
};

/// A symmetric 2 x 2 matrix in each pixel.
struct Tensor {
  Value xx, xy, yy;
};

/// Half the sum and half the difference of the eigenvalues.
struct Eigenvalues {
  Value mean, half_difference;
};

Eigenvalues eigenvalues(Features& features, const Tensor& tensor) {
  const Value half = features.combine({.kind = Kind::mix, .p = 0.5, .q = -0.5}, tensor.xx, tensor.yy);
  const Value root = features.combine({.kind = Kind::magnitude}, half, tensor.xy);
  return {features.combine({.kind = Kind::mix, .p = 0.5, .q = 0.5}, tensor.xx, tensor.yy), root};
}

void add_eigenvalue(Features& features, const Tensor& tensor, std::int64_t which) {
  const Eigenvalues both = eigenvalues(features, tensor);
  features.combine({.kind = which == 1 ? Kind::sum : Kind::difference}, both.mean, both.half_difference);
}

template <class Options>
Keys tensor_keys(Options& options, const Key& third) {
  return joined(
      {width_keys(options, "", above(0)),
       {{.name = "eigenvalue",
         .value = &options.eigenvalue,
         .words = "1: the larger eigenvalue. 2: the smaller one",
         .range = between(1, 2)},
        {.name = "element",
         .value = choice(options.element,
                         {{"xx", TensorElement::xx}, {"xy", TensorElement::xy}, {"yy", TensorElement::yy}}),
         .words = "element of the matrix"},
        third},
       convolving_keys(options, MissingSupport::propagate_only)});
}

/// Throws InvalidArgument unless one of the results is chosen.
template <class Options>
void check_result(const Options& options, const StageArguments& stage_args, bool third,
                  std::string_view name) {
  const int given = (options.eigenvalue ? 1 : 0) + (options.element ? 1 : 0) + (third ? 1 : 0);
  if (given == 1) return;
  stage_args.refuse("eigenvalue", fmt::format("give one of eigenvalue=1, element=xx and {}", name));
}

/// The second derivatives of the image, blurred by `width`.
template <class Options>
Tensor hessian_of(Features& features, const StageArguments& stage_args, const Options& options,
                  const GaussianWidth& width) {
  const auto derivative = [&](std::int64_t x, std::int64_t y) {
    return features.apply(make_filter(stage_args, options, width.taps(x, y)));
  };
  return {derivative(2, 0), derivative(1, 1), derivative(0, 2)};
}

Keys keys(HessianOptions& options) {
  return tensor_keys(
      options,
      {.name = "determinant", .value = &options.determinant, .words = "the determinant, xx yy - xy xy"});
}

StagePtr make(const HessianOptions& options, const StageArguments& stage_args) {
  check_result(options, stage_args, options.determinant, "determinant=true");
  const GaussianWidth width = width_of(options, stage_args);
  Features features;
  if (options.element) {
    const int x = *options.element == TensorElement::xx ? 2 : *options.element == TensorElement::xy ? 1 : 0;
    features.apply(make_filter(stage_args, options, width.taps(x, 2 - x)));
    return features.propagating(stage_args, options.nodata);
  }
  const Tensor tensor = hessian_of(features, stage_args, options, width);
  if (options.determinant) {
    const Value diagonal = features.combine({.kind = Kind::product}, tensor.xx, tensor.yy);
    const Value rest = features.combine({.kind = Kind::product}, tensor.xy, tensor.xy);
    features.combine({.kind = Kind::difference}, diagonal, rest);
  } else {
    add_eigenvalue(features, tensor, *options.eigenvalue);
  }
  return features.propagating(stage_args, options.nodata);
}

Keys keys(StructureTensorOptions& options) {
  return tensor_keys(options, {.name = "coherence",
                               .value = &options.coherence,
                               .words = "((l1 - l2) / (l1 + l2))^2 of the eigenvalues; 0 where both are 0"});
}

StagePtr make(const StructureTensorOptions& options, const StageArguments& stage_args) {
  check_result(options, stage_args, options.coherence, "coherence=true");
  Features features;
  const StagePtr blur = make_filter(stage_args, options, width_of(options, stage_args).taps());
  const auto along = difference_taps(), across = sobel_smoothing_taps();
  Value x = Value::input, y = Value::input;
  if (options.element != TensorElement::yy)
    x = features.apply(make_filter(stage_args, options, {along, across}));
  if (options.element != TensorElement::xx)
    y = features.apply(make_filter(stage_args, options, {across, along}));
  const auto blurred_product = [&](Value a, Value b) {
    return features.apply(blur, features.combine({.kind = Kind::product}, a, b));
  };
  if (options.element) {
    blurred_product(options.element == TensorElement::yy ? y : x,
                    options.element == TensorElement::xx ? x : y);
    return features.propagating(stage_args, options.nodata);
  }
  const Tensor tensor{blurred_product(x, x), blurred_product(x, y), blurred_product(y, y)};
  if (options.eigenvalue) {
    add_eigenvalue(features, tensor, *options.eigenvalue);
    return features.propagating(stage_args, options.nodata);
  }
  constexpr double kTiny = 1e-30;  // 0 / kTiny is 0
  const Eigenvalues both = eigenvalues(features, tensor);
  const Value mean = features.apply(clamp({.low = kTiny}), both.mean);
  const Value ratio = features.combine({.kind = Kind::quotient}, both.half_difference, mean);
  features.combine({.kind = Kind::product}, ratio, ratio);
  return features.propagating(stage_args, options.nodata);
}

Keys keys(SatoOptions& options) {
  return joined({{{.name = "sigmas",
                   .value = &options.sigmas,
                   .words = "standard deviations of the scales, as 1,2,4",
                   .unit = "pixels",
                   .range = above(0),
                   .needed = true},
                  truncate_key(options.truncate),
                  {.name = "ridges",
                   .value = choice(options.ridges, {{"bright", SatoOptions::Ridges::bright},
                                                    {"dark", SatoOptions::Ridges::dark}}),
                   .words = "ridges that are brighter or darker than what surrounds them"}},
                 convolving_keys(options, MissingSupport::propagate_only)});
}

StagePtr make(const SatoOptions& options, const StageArguments& stage_args) {
  Features features;
  std::optional<Value> largest;
  for (const double sigma : options.sigmas) {
    if (!(sigma > 0)) stage_args.refuse("sigmas", "standard deviations are greater than 0");
    const std::int64_t radius =
        gaussian_radius_of(stage_args, "sigmas", sigma, options.truncate, {}, "take a smaller one");
    const Tensor tensor = hessian_of(features, stage_args, options, {sigma, sigma, radius, radius});
    const Eigenvalues both = eigenvalues(features, tensor);
    const bool is_bright = options.ridges == SatoOptions::Ridges::bright;
    const Value across =
        features.combine({.kind = is_bright ? Kind::difference : Kind::sum}, both.half_difference, both.mean);
    const Value scaled =
        features.apply(scale({.factor = sigma * sigma}), features.apply(clamp({.low = 0}), across));
    largest = largest ? features.combine({.kind = Kind::greater}, *largest, scaled) : scaled;
  }
  return features.propagating(stage_args, options.nodata);
}

Keys keys(GuidedOptions& options) {
  return joined({{{.name = "eps",
                   .value = &options.eps,
                   .words = "variance, in squared pixel values, below which the window is smoothed",
                   .range = above(0),
                   .needed = true}},
                 window_keys(options, MissingSupport::no_fill)});
}

StagePtr make(const GuidedOptions& options, const StageArguments& stage_args) {
  Features features;
  const StagePtr mean = box({options.radius, options.radius_y, {}, options.border, options.nodata});
  const Value deviation =
      features.apply(stddev({options.radius, options.radius_y, {}, options.border, options.nodata}));
  const Value variance = features.combine({.kind = Kind::product}, deviation, deviation);
  const Value gain = features.combine({.kind = Kind::quotient}, variance,
                                      features.apply(scale({.factor = 1, .offset = *options.eps}), variance));
  const Value local_mean = features.apply(mean);
  const Value offset = features.combine({.kind = Kind::difference}, local_mean,
                                        features.combine({.kind = Kind::product}, gain, local_mean));
  const Value scaled = features.combine({.kind = Kind::product}, features.apply(mean, gain), Value::input);
  features.combine({.kind = Kind::sum}, scaled, features.apply(mean, offset));
  FeatureTraits traits{.mean_within = options.border};
  if (!options.nodata) traits.default_nodata = MissingPolicy::ignore;
  return features.stage(stage_args, std::move(traits));
}

constexpr StageKind<HessianOptions> kHessian{
    "hessian", "eigenvalue, element or determinant of the matrix of second derivatives",
    "hessian:sigma=2,eigenvalue=1", keys, make};
constexpr StageKind<StructureTensorOptions> kStructureTensor{
    "structure_tensor", "eigenvalue, element or coherence of the structure tensor, as scikit-image",
    "structure_tensor:sigma=3,coherence=true", keys, make};
constexpr StageKind<SatoOptions> kSato{"sato", "tubeness: ridges of several scales, after Sato",
                                       "sato:sigmas=1,2,3", keys, make};
constexpr StageKind<GuidedOptions> kGuided{"guided",
                                           "guided filter by the image itself: smooths and keeps edges",
                                           "guided:radius=4,eps=400", keys, make};
}  // namespace

StagePtr hessian(const HessianOptions& options) { return kHessian(options); }
StagePtr structure_tensor(const StructureTensorOptions& options) { return kStructureTensor(options); }
StagePtr sato(const SatoOptions& options) { return kSato(options); }
StagePtr guided(const GuidedOptions& options) { return kGuided(options); }
StageEntry HessianOptions::entry() { return kHessian.entry(); }
StageEntry StructureTensorOptions::entry() { return kStructureTensor.entry(); }
StageEntry SatoOptions::entry() { return kSato.entry(); }
StageEntry GuidedOptions::entry() { return kGuided.entry(); }

}  // namespace sepconv
