// log, dog, unsharp: what is built from more than one Gaussian branch over the same input.
#include "sepconv/kernels/conv/taps.hpp"
#include "sepconv/pipeline/stages/filter_stage.hpp"
#include "sepconv/pipeline/stages/sigma.hpp"

namespace sepconv {
namespace {

SeparableTaps blur(const Gaussian& gaussian) {
  const std::vector<double> taps = gaussian_taps(gaussian.sigma, gaussian.radius);
  return {taps, taps};
}

/// d2/dx2 + d2/dy2 of the blurred image, as scipy.ndimage.gaussian_laplace.
StagePtr make_log(const StageArgs& args) {
  const Gaussian gaussian = gaussian_of(args);
  const std::vector<double> smooth = gaussian_taps(gaussian.sigma, gaussian.radius);
  const std::vector<double> second = gaussian_taps(gaussian.sigma, gaussian.radius, 2);
  return make_filter(args, {second, smooth}, {smooth, second}, PointwiseOp::Kind::sum);
}

StagePtr make_dog(const StageArgs& args) {
  return make_filter(args, blur(gaussian_of(args)), blur(gaussian_of(args, "sigma2")),
                     PointwiseOp::Kind::difference);
}

StagePtr make_unsharp(const StageArgs& args) {
  const double amount = args.number("amount", 1);
  const double threshold = args.number("threshold", 0);
  if (threshold < 0) args.fail("threshold", "it must not be negative");
  return make_filter(args, blur(gaussian_of(args)),
                     PointwiseOp{.kind = PointwiseOp::Kind::unsharp, .p = amount, .q = threshold});
}

std::vector<StageEntry::Key> with_gaussian_keys(std::vector<StageEntry::Key> more) {
  std::vector<StageEntry::Key> keys = gaussian_keys();
  keys.insert(keys.end(), more.begin(), more.end());
  return convolving_keys(std::move(keys));
}

}  // namespace

StageDefinitions multi_scale_stages() {
  return {{{"log", "Laplacian of the Gaussian, as scipy.ndimage.gaussian_laplace", "log:sigma=2",
            with_gaussian_keys({})},
           make_log},
          {{"dog", "difference of two Gaussians: blur(sigma) - blur(sigma2)", "dog:sigma=1,sigma2=1.6",
            with_gaussian_keys({{"sigma2", "standard deviation of the blur that is subtracted"}})},
           make_dog},
          {{"unsharp", "sharpening: x + amount (x - blur(x)) where |x - blur(x)| reaches the threshold",
            "unsharp:sigma=1.5,amount=0.8",
            with_gaussian_keys({{"amount", "how much of the difference is added (default 1)"},
                                {"threshold", "least difference that is sharpened (default 0)"}})},
           make_unsharp}};
}

}  // namespace sepconv
