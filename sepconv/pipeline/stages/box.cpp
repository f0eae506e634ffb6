// box: the mean of a square.
#include "sepconv/kernels/conv/taps.hpp"
#include "sepconv/pipeline/stages/filter_stage.hpp"
#include "sepconv/pipeline/stages/sigma.hpp"

namespace sepconv {
namespace {

StagePtr make_box(const StageArgs& args) {
  const std::vector<double> taps = box_taps(radius_of(args, 1, kMaxRadius));
  return make_filter(args, {taps, taps});
}

}  // namespace

StageDefinitions box_stages() {
  return {{{"box", "mean of a square of (2 radius + 1)^2 pixels", "box:radius=4",
            convolving_keys({{"radius", "pixels on each side of the middle one (default 1)"}})},
           make_box}};
}

}  // namespace sepconv
