// gaussian: the filter of scipy.ndimage.gaussian_filter, tap for tap.
#include "sepconv/kernels/conv/taps.hpp"
#include "sepconv/pipeline/stages/filter_stage.hpp"
#include "sepconv/pipeline/stages/sigma.hpp"

namespace sepconv {
namespace {

StagePtr make_gaussian(const StageArgs& args) {
  const Gaussian gaussian = gaussian_of(args);
  const std::vector<double> taps = gaussian_taps(gaussian.sigma, gaussian.radius);
  return make_filter(args, {taps, taps});
}

}  // namespace

StageDefinitions gaussian_stages() {
  return {{{"gaussian", "Gaussian blur with the taps of scipy.ndimage.gaussian_filter", "gaussian:sigma=2.5",
            convolving_keys(gaussian_keys())},
           make_gaussian}};
}

}  // namespace sepconv
