// gaussian_laplace, dog, unsharp: combinations of several Gaussian branches over the same input.
#include "pipeline/stages/sigma_keys.hpp"
#include "pipeline/stages/stages.hpp"
#include "pipeline/stages/subchain_stage.hpp"

namespace sepconv {
namespace {

Keys keys(GaussianLaplaceOptions& options) {
  return joined({width_keys(options, "", above(0)), depth_keys(options, above(0)),
                 convolving_keys(options, MissingSupport::propagate_only)});
}

/// d2/dx2 + d2/dy2 (+ d2/dz2) of the blurred image, as scipy.ndimage.gaussian_laplace.
StagePtr make(const GaussianLaplaceOptions& options, const StageArguments& stage_args) {
  const GaussianWidth width = width_of(options, stage_args);
  const auto branch = [&](int order_x, int order_y, int order_z) {
    std::vector<double> along_z;
    if (options.sigma_z) along_z = taps_along_z(options, stage_args, "sigma_z", *options.sigma_z, order_z);
    return make_filter(stage_args, options, width.taps(order_x, order_y), std::move(along_z));
  };
  std::vector<StagePtr> branches{branch(2, 0, 0), branch(0, 2, 0)};
  if (options.sigma_z) branches = {branch(0, 0, 2), branch(0, 2, 0), branch(2, 0, 0)};
  return joined_filters(stage_args, branches, {.kind = PointwiseOp::Kind::sum}, options.nodata,
                        MissingPolicy::propagate);
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
  const auto blur = [&](const GaussianWidth& width, std::string_view key, std::optional<double> sigma_z) {
    std::vector<double> along_z;
    if (options.sigma_z) along_z = taps_along_z(options, stage_args, key, *sigma_z);
    return make_filter(stage_args, options, width.taps(), std::move(along_z));
  };
  return joined_filters(stage_args,
                        {blur(width_of(options, stage_args), "sigma_z", options.sigma_z),
                         blur(width_of(options, stage_args, *options.sigma2, options.sigma2_y, "sigma2"),
                              "sigma2_z", options.sigma2_z)},
                        {.kind = PointwiseOp::Kind::difference}, options.nodata, MissingPolicy::ignore);
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
  if (options.nodata == MissingPolicy::fill)
    stage_args.refuse("nodata", "a missing pixel has no details to sharpen; take nodata=ignore");
  std::vector<double> along_z;
  if (options.sigma_z) along_z = taps_along_z(options, stage_args, "sigma_z", *options.sigma_z);
  const StagePtr blur =
      make_filter(stage_args, options, width_of(options, stage_args).taps(), std::move(along_z));
  return subchain_stage(stage_args.text(), Chain{blur},
                        {.kind = PointwiseOp::Kind::unsharp,
                         .p = options.amount,
                         .q = options.threshold,
                         .propagates_nodata = options.nodata.has_value()});
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
