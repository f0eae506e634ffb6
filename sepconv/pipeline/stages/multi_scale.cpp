// log, dog, unsharp: what is built from more than one Gaussian branch over the same input.
#include "sepconv/pipeline/stages/blur_width.hpp"
#include "sepconv/pipeline/stages/filter_stage.hpp"
#include "sepconv/pipeline/stages/stages.hpp"

namespace sepconv {
namespace {

Keys keys(LogOptions& options) { return joined({width_keys(options), convolving_keys(options)}); }

/// d2/dx2 + d2/dy2 of the blurred image, as scipy.ndimage.gaussian_laplace.
StagePtr make(const LogOptions& options, const Spelling& spelling) {
  const GaussianWidth width = width_of(options, spelling);
  return make_filter(spelling, options, {width.taps(2, 0), width.taps(0, 2)},
                     {.kind = PointwiseOp::Kind::sum});
}

Keys keys(DogOptions& options) {
  return joined({width_keys(options),
                 {length_key("sigma2", &options.sigma2, "standard deviation of the blur that is subtracted",
                             above(0), true),
                  length_key("sigma2_y", &options.sigma2_y,
                             "the same along y; as along x where it is left out", above(0))},
                 convolving_keys(options)});
}

StagePtr make(const DogOptions& options, const Spelling& spelling) {
  const GaussianWidth second = width_of(options, spelling, *options.sigma2, options.sigma2_y, "sigma2");
  return make_filter(spelling, options, {width_of(options, spelling).taps(), second.taps()},
                     {.kind = PointwiseOp::Kind::difference});
}

Keys keys(UnsharpOptions& options) {
  return joined(
      {width_keys(options),
       {{.name = "amount", .value = &options.amount, .words = "how much of the difference is added"},
        {.name = "threshold",
         .value = &options.threshold,
         .words = "least difference that is sharpened",
         .range = at_least(0)}},
       convolving_keys(options)});
}

StagePtr make(const UnsharpOptions& options, const Spelling& spelling) {
  return make_filter(spelling, options, {width_of(options, spelling).taps()},
                     {.kind = PointwiseOp::Kind::unsharp, .p = options.amount, .q = options.threshold});
}

constexpr StageKind<LogOptions> kLog{"log", "Laplacian of the Gaussian, as scipy.ndimage.gaussian_laplace",
                                     "log:sigma=2", keys, make};
constexpr StageKind<DogOptions> kDog{"dog", "difference of two Gaussians: blur(sigma) - blur(sigma2)",
                                     "dog:sigma=1,sigma2=1.6", keys, make};
constexpr StageKind<UnsharpOptions> kUnsharp{
    "unsharp", "sharpening: x + amount (x - blur(x)) where |x - blur(x)| reaches the threshold",
    "unsharp:sigma=1.5,amount=0.8", keys, make};

}  // namespace

StagePtr log(const LogOptions& options) { return kLog(options); }
StagePtr dog(const DogOptions& options) { return kDog(options); }
StagePtr unsharp(const UnsharpOptions& options) { return kUnsharp(options); }
StageEntry LogOptions::entry() { return kLog.entry(); }
StageEntry DogOptions::entry() { return kDog.entry(); }
StageEntry UnsharpOptions::entry() { return kUnsharp.entry(); }

}  // namespace sepconv
