// gaussian_laplace, dog, unsharp: combinations of several Gaussian branches over the same input.
#include "pipeline/stages/sigma_keys.hpp"
#include "pipeline/stages/stages.hpp"
#include "pipeline/stages/volume_join.hpp"

namespace sepconv {
namespace {

Keys keys(GaussianLaplaceOptions& options) {
  return joined({width_keys(options, "", above(0)), depth_keys(options, above(0)),
                 convolving_keys(options, MissingSupport::propagate_only)});
}

/// d2/dx2 + d2/dy2 (+ d2/dz2) of the blurred image, as scipy.ndimage.gaussian_laplace.
StagePtr make(const GaussianLaplaceOptions& options, const StageArguments& stage_args) {
  const GaussianWidth width = width_of(options, stage_args);
  constexpr PointwiseOp kSum{.kind = PointwiseOp::Kind::sum};
  StagePtr plane = make_filter(stage_args, options, {width.taps(2, 0), width.taps(0, 2)}, kSum);
  if (!options.sigma_z) return plane;
  const auto branch = [&](int order_x, int order_y, int order_z) {
    return make_volume_filter(stage_args, options, width.taps(order_x, order_y),
                              taps_along_z(options, stage_args, "sigma_z", *options.sigma_z, order_z));
  };
  return make_volume_join(options, stage_args, std::move(plane),
                          {branch(0, 0, 2), branch(0, 2, 0), branch(2, 0, 0)}, kSum, MissingPolicy::propagate,
                          &gaussian_laplace);
}

Keys keys(DogOptions& options) {
  return joined({width_keys(options),
                 {length_key("sigma2", &options.sigma2, "standard deviation of the blur that is subtracted",
                             at_least(0), true),
                  length_key("sigma2_y", &options.sigma2_y,
                             "standard deviation of that blur along y; default: as along x", at_least(0))},
                 depth_keys(options),
                 {length_key("sigma2_z", &options.sigma2_z, "standard deviation of that blur along z",
                             at_least(0), true, "sigma_z")},
                 convolving_keys(options)});
}

StagePtr make(const DogOptions& options, const StageArguments& stage_args) {
  const SeparableTaps first = width_of(options, stage_args).taps();
  const SeparableTaps second =
      width_of(options, stage_args, *options.sigma2, options.sigma2_y, "sigma2").taps();
  constexpr PointwiseOp kDifference{.kind = PointwiseOp::Kind::difference};
  StagePtr plane = make_filter(stage_args, options, {first, second}, kDifference);
  if (!options.sigma_z) return plane;
  const auto branch = [&](const SeparableTaps& taps, std::string_view key, double sigma) {
    return make_volume_filter(stage_args, options, taps, taps_along_z(options, stage_args, key, sigma));
  };
  return make_volume_join(
      options, stage_args, std::move(plane),
      {branch(first, "sigma_z", *options.sigma_z), branch(second, "sigma2_z", *options.sigma2_z)},
      kDifference, MissingPolicy::ignore, &dog);
}

Keys keys(UnsharpOptions& options) {
  return joined(
      {width_keys(options),
       depth_keys(options),
       {{.name = "amount", .value = &options.amount, .words = "how much of the difference is added"},
        {.name = "threshold",
         .value = &options.threshold,
         .words = "smallest difference that is sharpened",
         .range = at_least(0)}},
       convolving_keys(options, MissingSupport::no_fill)});
}

StagePtr make(const UnsharpOptions& options, const StageArguments& stage_args) {
  const SeparableTaps taps = width_of(options, stage_args).taps();
  const PointwiseOp op{.kind = PointwiseOp::Kind::unsharp, .p = options.amount, .q = options.threshold};
  StagePtr plane = make_filter(stage_args, options, {taps}, op);
  if (!options.sigma_z) return plane;
  return make_volume_join(
      options, stage_args, std::move(plane),
      {make_volume_filter(stage_args, options, taps,
                          taps_along_z(options, stage_args, "sigma_z", *options.sigma_z))},
      op, MissingPolicy::ignore, &unsharp);
}

constexpr StageKind<GaussianLaplaceOptions> kGaussianLaplace{
    "gaussian_laplace",
    "Laplacian of the Gaussian, as scipy.ndimage.gaussian_laplace",
    "gaussian_laplace:sigma=2",
    keys,
    make,
    "log"};
constexpr StageKind<DogOptions> kDog{"dog", "difference of two Gaussians: blur(sigma) - blur(sigma2)",
                                     "dog:sigma=1,sigma2=1.6", keys, make};
constexpr StageKind<UnsharpOptions> kUnsharp{
    "unsharp", "unsharp mask: x + amount (x - blur(x)) where |x - blur(x)| reaches the threshold",
    "unsharp:sigma=1.5,amount=0.8", keys, make};

}  // namespace

StagePtr gaussian_laplace(const GaussianLaplaceOptions& options) { return kGaussianLaplace(options); }
StagePtr dog(const DogOptions& options) { return kDog(options); }
StagePtr unsharp(const UnsharpOptions& options) { return kUnsharp(options); }
StageEntry GaussianLaplaceOptions::entry() { return kGaussianLaplace.entry(); }
StageEntry DogOptions::entry() { return kDog.entry(); }
StageEntry UnsharpOptions::entry() { return kUnsharp.entry(); }

}  // namespace sepconv
