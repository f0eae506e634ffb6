// sobel, scharr, derivative: differences along one axis; gradient: the length of the vector of both.
#include "sepconv/kernels/conv/taps.hpp"
#include "sepconv/pipeline/stages/filter_stage.hpp"
#include "sepconv/pipeline/stages/sigma.hpp"

namespace sepconv {
namespace {

const StageEntry::Key kAxisKey{"axis", "x (default): from column to column; y: from row to row"};

/// `along` the axis, `across` it: taps.row run along x.
SeparableTaps directed(const StageArgs& args, std::vector<double> along, std::vector<double> across) {
  if (args.choice("axis", {"x", "y"}) == "x") return {std::move(along), std::move(across)};
  return {std::move(across), std::move(along)};
}

StagePtr make_sobel(const StageArgs& args) {
  return make_filter(args, directed(args, difference_taps(), sobel_smoothing_taps()));
}

StagePtr make_scharr(const StageArgs& args) {
  return make_filter(args, directed(args, difference_taps(), scharr_smoothing_taps()));
}

StagePtr make_derivative(const StageArgs& args) {
  const std::int64_t order = args.integer("order", 1);
  if (order < 1 || order > 16) args.fail("order", "it lies between 1 and 16");
  const std::int64_t least_radius = (order + 1) / 2;
  const std::int64_t radius = radius_of(args, least_radius, 64);
  if (radius < least_radius) args.fail("radius", "an n-th derivative needs a radius of at least n / 2");
  return make_filter(args, directed(args, derivative_taps(static_cast<int>(order), radius), {}));
}

StagePtr make_gradient(const StageArgs& args) {
  const std::string kind = args.choice("operator", {"sobel", "scharr", "gaussian"});
  if (kind != "gaussian" && args.has("sigma")) args.fail("sigma", "only operator=gaussian has a sigma");
  std::vector<double> along = difference_taps();
  std::vector<double> across = kind == "scharr" ? scharr_smoothing_taps() : sobel_smoothing_taps();
  if (kind == "gaussian") {
    const Gaussian gaussian = gaussian_of(args);
    along = gaussian_taps(gaussian.sigma, gaussian.radius, 1);
    across = gaussian_taps(gaussian.sigma, gaussian.radius);
  }
  return make_filter(args, {along, across}, {across, along}, PointwiseOp::Kind::magnitude);
}

std::vector<StageEntry::Key> gradient_keys() {
  std::vector<StageEntry::Key> keys = gaussian_keys();
  keys.insert(keys.begin(), {"operator", "sobel (default), scharr, or gaussian with sigma"});
  return convolving_keys(std::move(keys));
}

}  // namespace

StageDefinitions derivative_stages() {
  return {
      {{"sobel", "(-1 0 1) along the axis, (1 2 1) across", "sobel:axis=x", convolving_keys({kAxisKey})},
       make_sobel},
      {{"scharr", "(-1 0 1) along the axis, (3 10 3) across", "scharr:axis=y", convolving_keys({kAxisKey})},
       make_scharr},
      {{"derivative", "central difference of any order along one axis, nothing across",
        "derivative:order=2,axis=y",
        convolving_keys(
            {{"order", "1 (default) to 16"},
             kAxisKey,
             {"radius", "binomial smoothing along the axis beyond the least radius, (order + 1) / 2"}})},
       make_derivative},
      {{"gradient", "length of the gradient: sqrt(gx^2 + gy^2), in one pass", "gradient:operator=scharr",
        gradient_keys()},
       make_gradient}};
}

}  // namespace sepconv
