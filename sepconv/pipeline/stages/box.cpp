// box: the mean of a rectangle.
#include "sepconv/kernels/conv/taps.hpp"
#include "sepconv/pipeline/stages/blur_width.hpp"
#include "sepconv/pipeline/stages/filter_stage.hpp"
#include "sepconv/pipeline/stages/stages.hpp"

namespace sepconv {
namespace {

Keys keys(BoxOptions& options) {
  return joined(
      {radius_keys(options, kMaxRadius),
       {radius_z_key(options.radius_z, "radius along z, of stacks; left out: each plane by itself")},
       convolving_keys(options)});
}

StagePtr make(const BoxOptions& options, const Spelling& spelling) {
  return make_deep_filter(spelling, options,
                          {box_taps(options.radius), box_taps(options.radius_y.value_or(options.radius))},
                          options.radius_z ? box_taps(*options.radius_z) : std::vector<double>());
}

constexpr StageKind<BoxOptions> kBox{"box", "mean of (2 radius + 1) x (2 radius_y + 1) pixels",
                                     "box:radius=4", keys, make};

}  // namespace

StagePtr box(const BoxOptions& options) { return kBox(options); }
StageEntry BoxOptions::entry() { return kBox.entry(); }

}  // namespace sepconv
