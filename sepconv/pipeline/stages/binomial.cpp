// binomial: rows of Pascal's triangle, the integer relative of the Gaussian.
#include "sepconv/kernels/conv/taps.hpp"
#include "sepconv/pipeline/stages/filter_stage.hpp"
#include "sepconv/pipeline/stages/sigma.hpp"

namespace sepconv {
namespace {

StagePtr make_binomial(const StageArgs& args) {
  const std::vector<double> taps = binomial_taps(radius_of(args, 1, 512));
  return make_filter(args, {taps, taps});
}

}  // namespace

StageDefinitions binomial_stages() {
  return {
      {{"binomial", "row 2 radius of Pascal's triangle, sum 1: (1 2 1)/4 for radius 1", "binomial:radius=2",
        convolving_keys({{"radius", "pixels on each side of the middle one, up to 512 (default 1)"}})},
       make_binomial}};
}

}  // namespace sepconv
