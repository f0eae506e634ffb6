// curvature: the largest eigenvalue of the matrix of second derivatives, which is high in dark valleys.
#include "sepconv/sepconv.hpp"
#include "sepconv/stage.hpp"

namespace {

using namespace sepconv;

struct CurvatureOptions {
  double sigma = 1;  ///< of the Gaussian that is differentiated
};

Keys keys(CurvatureOptions& options) {
  return {{.name = "sigma", .value = &options.sigma, .words = "standard deviation", .range = above(0)}};
}

StagePtr make(const CurvatureOptions& options, const StageArguments& stage_args) {
  using Kind = PointwiseOp::Kind;
  Expression expression;
  const auto derivative = [&](std::int64_t x, std::int64_t y) {
    return expression.apply(gaussian({.sigma = options.sigma, .order = x, .order_y = y}));
  };
  const auto xx = derivative(2, 0), yy = derivative(0, 2), xy = derivative(1, 1);
  const auto half_difference = expression.combine({.kind = Kind::mix, .p = 0.5, .q = -0.5}, xx, yy);
  const auto root = expression.combine({.kind = Kind::magnitude}, half_difference, xy);
  const auto mean = expression.combine({.kind = Kind::mix, .p = 0.5, .q = 0.5}, xx, yy);
  expression.combine({.kind = Kind::sum}, mean, root);
  return expression.stage(stage_args.text());
}

constexpr StageKind<CurvatureOptions> kCurvature{"curvature", "largest eigenvalue of the Hessian matrix",
                                                 "curvature:sigma=2", keys, make};

}  // namespace

/// Runs a chain with this stage: example_curvature_stage IN OUT STAGE...
int main(int argc, char** argv) {
  StageTable stages = stage_table();
  stages.push_back(kCurvature.entry());
  const Chain chain = Chain::parse(std::vector<std::string>(argv + 3, argv + argc), stages);
  run_file(argv[1], argv[2], chain);
}
