// gaussian: the filter of scipy.ndimage.gaussian_filter, tap for tap.
#include "sepconv/pipeline/stages/blur_width.hpp"
#include "sepconv/pipeline/stages/filter_stage.hpp"
#include "sepconv/pipeline/stages/stages.hpp"

namespace sepconv {
namespace {

Keys keys(GaussianOptions& options) {
  return joined({width_keys(options),
                 {{.name = "order",
                   .value = &options.order,
                   .words = "order of the derivative along both axes; 0 blurs",
                   .range = between(0, 3)},
                  {.name = "order_y",
                   .value = &options.order_y,
                   .words = "order of the derivative along y; as along x where it is left out",
                   .range = between(0, 3)}},
                 convolving_keys(options)});
}

StagePtr make(const GaussianOptions& options, const Spelling& spelling) {
  const GaussianWidth width = width_of(options, spelling);
  return make_filter(spelling, options, {width.taps(options.order, options.order_y.value_or(options.order))});
}

constexpr StageKind<GaussianOptions> kGaussian{"gaussian",
                                               "Gaussian blur with the taps of scipy.ndimage.gaussian_filter",
                                               "gaussian:sigma=2.5", keys, make};

}  // namespace

StagePtr gaussian(const GaussianOptions& options) { return kGaussian(options); }
StageEntry GaussianOptions::entry() { return kGaussian.entry(); }

}  // namespace sepconv
