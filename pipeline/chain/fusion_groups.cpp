#include "pipeline/chain/fusion_groups.hpp"

namespace sepconv {
namespace {

bool is_permutation(const Chain& chain, const Step& step) {
  return chain.stages()[step.first]->traits().is_permutation;
}

/// Intermediate values have the arithmetic type. Stages that only move pixels use the type that they deliver,
/// so a transpose at the end moves the bytes of the result and one at the beginning those of the source.
void set_result_types(std::vector<Step>& steps, const Chain& chain, const std::vector<ImageSpec>& specs,
                      Arithmetic arithmetic) {
  PixelType type = specs.back().type;
  for (std::size_t i = steps.size(); i-- > 0;) {
    steps[i].result = type;
    if (!is_permutation(chain, steps[i])) type = pixel_type_of(arithmetic);
  }
  for (Step& step : steps) {
    if (!is_permutation(chain, step)) break;
    step.result = specs.front().type;
  }
}

}  // namespace

std::vector<Step> host_steps(const Chain& chain, const std::vector<ImageSpec>& specs, Arithmetic arithmetic,
                             std::size_t first, std::optional<std::size_t> in_place) {
  std::vector<Step> steps;
  for (std::size_t i = first; i < chain.size(); ++i) {
    if (i == in_place && !steps.empty() && !is_permutation(chain, steps.back())) {
      steps.back().fused_ops.push_back(chain.stages()[i]->traits().pointwise.value_or(PointwiseOp()));
    } else {
      steps.push_back({i, {}});
    }
  }
  set_result_types(steps, chain, specs, arithmetic);
  return steps;
}

std::vector<Step> fused_steps(const Chain& chain, const std::vector<ImageSpec>& specs,
                              Arithmetic arithmetic) {
  std::vector<Step> steps;
  for (std::size_t i = 0; i < chain.size(); ++i) {
    const std::optional<PointwiseOp>& op = chain.stages()[i]->traits().pointwise;
    if (op && !steps.empty() && steps.back().fused_ops.size() < kMaxFusedOps &&
        !is_permutation(chain, steps.back())) {
      steps.back().fused_ops.push_back(*op);
    } else {
      steps.push_back({i, {}});
    }
  }
  set_result_types(steps, chain, specs, arithmetic);
  return steps;
}

}  // namespace sepconv
