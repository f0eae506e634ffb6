// binomial: rows of Pascal's triangle, the integer approximation of the Gaussian.
#include "kernels/conv/taps.hpp"
#include "pipeline/stages/filter_stage.hpp"
#include "pipeline/stages/sigma_keys.hpp"
#include "pipeline/stages/stages.hpp"

namespace sepconv {
namespace {

constexpr std::int64_t kMaxBinomial = 512;

Keys keys(BinomialOptions& options) {
  return joined({radius_keys(options, kMaxBinomial),
                 {radius_z_key(options.radius_z, kEachPlaneSeparately, "", kMaxBinomial)},
                 convolving_keys(options)});
}

StagePtr make(const BinomialOptions& options, const StageArguments& stage_args) {
  return make_filter(
      stage_args, options,
      {binomial_taps(options.radius), binomial_taps(options.radius_y.value_or(options.radius))},
      options.radius_z ? binomial_taps(*options.radius_z) : std::vector<double>());
}

constexpr StageKind<BinomialOptions> kBinomial{
    "binomial", "row 2 radius of Pascal's triangle, sum 1: (1 2 1)/4 for radius 1", "binomial:radius=2", keys,
    make};

}  // namespace

StagePtr binomial(const BinomialOptions& options) { return kBinomial(options); }
StageEntry BinomialOptions::entry() { return kBinomial.entry(); }

}  // namespace sepconv
