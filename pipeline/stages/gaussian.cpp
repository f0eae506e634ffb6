// gaussian: the same taps as scipy.ndimage.gaussian_filter.
#include <algorithm>

#include "pipeline/stages/filter_stage.hpp"
#include "pipeline/stages/multirate_stage.hpp"
#include "pipeline/stages/sigma_keys.hpp"
#include "pipeline/stages/stages.hpp"

namespace sepconv {
namespace {

Keys keys(GaussianOptions& options) {
  return joined(
      {width_keys(options),
       {{.name = "order",
         .value = &options.order,
         .words = "order of the derivative along both axes; 0 blurs",
         .range = between(0, 3)},
        {.name = "order_y",
         .value = &options.order_y,
         .words = "order of the derivative along y; default: as along x",
         .range = between(0, 3)}},
       depth_keys(options),
       {{.name = "order_z",
         .value = &options.order_z,
         .words = "order of the derivative along z",
         .range = between(0, 3),
         .only_with = "sigma_z"},
        {.name = "method",
         .value = choice(options.method,
                         {{"exact", GaussianMethod::exact}, {"multirate", GaussianMethod::multirate}}),
         .words =
             "exact: all taps. multirate: decimate, blur, interpolate, for sigma of 8 to 10000; the cost "
             "does not grow with sigma, and the error is at most 1e-4 of the Gaussian"}},
       convolving_keys(options)});
}

StagePtr make_multirate(const GaussianOptions& options, const StageArguments& stage_args) {
  const auto refuse = [&](const char* why) { stage_args.refuse("method", why); };
  const double sigma_y = options.sigma_y.value_or(*options.sigma);
  const auto [min_sigma, max_sigma] = std::minmax(*options.sigma, sigma_y);
  if (min_sigma < kMinMultirateSigma || max_sigma > kMaxMultirateSigma)
    refuse("it is for a sigma of 8 to 10000");
  if (options.order != 0 || options.order_y.value_or(0) != 0) refuse("it blurs, and has no derivatives");
  if (options.sigma_z) refuse("it filters planes only; blur along z with a separate stage");
  if (options.radius || options.radius_y || options.truncate != GaussianOptions().truncate)
    refuse("the radius follows from sigma; omit radius and truncate");
  const Multirate filter{options.border, MultirateSide(sigma_y), MultirateSide(*options.sigma),
                         options.nodata};
  return std::make_shared<MultirateStage>(stage_args.text(), filter);
}

StagePtr make(const GaussianOptions& options, const StageArguments& stage_args) {
  if (options.method == GaussianMethod::multirate) return make_multirate(options, stage_args);
  const GaussianWidth width = width_of(options, stage_args);
  std::vector<double> along_z;
  if (options.sigma_z)
    along_z = taps_along_z(options, stage_args, "sigma_z", *options.sigma_z, options.order_z);
  return make_filter(stage_args, options, width.taps(options.order, options.order_y.value_or(options.order)),
                     std::move(along_z));
}

constexpr StageKind<GaussianOptions> kGaussian{"gaussian", "Gaussian blur, as scipy.ndimage.gaussian_filter",
                                               "gaussian:sigma=2.5", keys, make};

}  // namespace

StagePtr gaussian(const GaussianOptions& options) { return kGaussian(options); }
StageEntry GaussianOptions::entry() { return kGaussian.entry(); }

}  // namespace sepconv
