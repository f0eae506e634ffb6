#include "pipeline/stages/expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.hpp"
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
  if (nodes_.empty()) throw InvalidArgument(fmt::format("the expression '{}' has no stage", text));
  for (std::size_t value = 1; value < nodes_.size(); ++value) {
    const auto reads = [&](const StageNode& node) { return node.input == value || node.second == value; };
    if (std::ranges::none_of(nodes_, reads))
      throw InvalidArgument(fmt::format("value {} of the expression '{}' is not used", value, text));
  }
  return std::make_shared<CompositeStage>(std::move(text), nodes_, default_nodata);
}

}  // namespace sepconv
