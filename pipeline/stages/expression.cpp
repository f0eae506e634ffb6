#include "pipeline/stages/expression.hpp"

#include <utility>

#include "pipeline/stages/composite_stage.hpp"
#include "pipeline/stages/pointwise_stage.hpp"

namespace sepconv {

Expression::Value Expression::apply(StagePtr stage, Value input) {
  nodes_.push_back({std::move(stage), static_cast<std::size_t>(input)});
  return Value{nodes_.size()};
}

Expression::Value Expression::combine(const PointwiseOp& op, Value a, Value b) {
  nodes_.push_back(
      {pointwise_stage("(combine)", op), static_cast<std::size_t>(a), static_cast<std::size_t>(b)});
  return Value{nodes_.size()};
}

StagePtr Expression::stage(std::string text, std::optional<MissingPolicy> default_nodata) const {
  return std::make_shared<CompositeStage>(std::move(text), nodes_, default_nodata);
}

}  // namespace sepconv
