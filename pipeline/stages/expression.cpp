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

std::string why_not_composable(const Stage& stage) {
  if (stage.traits().is_permutation() || stage.traits().changes_size ||
      stage.properties().product != Product::none)
    return fmt::format("the result of {} is not aligned with its input", stage.text());
  return stage.properties().has_secondary
             ? fmt::format("{} has a second image; use a separate stage for that", stage.text())
             : "";
}

StagePtr Expression::stage(std::string text, std::optional<MissingPolicy> default_nodata) const {
  if (nodes_.empty()) throw InvalidArgument(fmt::format("the expression '{}' has no stage", text));
  for (const StageNode& node : nodes_) {
    if (const std::string why = why_not_composable(*node.stage); !why.empty())
      throw InvalidArgument(fmt::format("the expression '{}' cannot be computed: {}", text, why));
  }
  for (std::size_t value = 1; value < nodes_.size(); ++value) {
    const auto reads = [&](const StageNode& node) { return node.input == value || node.second == value; };
    if (std::ranges::none_of(nodes_, reads))
      throw InvalidArgument(fmt::format("value {} of the expression '{}' is not used", value, text));
  }
  return std::make_shared<CompositeStage>(std::move(text), nodes_, default_nodata);
}

}  // namespace sepconv
