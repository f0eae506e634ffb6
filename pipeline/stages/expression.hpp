// Stages made of other stages.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/chain/stage.hpp"
#include "pipeline/stages/nodata_policy.hpp"

namespace sepconv {

/// Builds a stage from stages that read its input or one another's results, and from binary operations. The
/// engine computes these: a band needs what they need together, and intermediate results stay in a tile.
class Expression {
 public:
  /// A value of the expression: its input, or the result of a stage or operation.
  enum class Value : std::size_t { input = 0 };

  /// The result of a stage for `input`, of the same extent.
  Value apply(StagePtr stage, Value input = Value::input);
  /// The result of a binary operation on each element of two values of the same extent and channels. NaN in
  /// `a` or `b` propagates if the image has missing pixels, or if the operation says so.
  Value combine(const PointwiseOp& op, Value a, Value b);

  /// The stage whose result is the value added last; `text` is its Stage::text(). Throws InvalidArgument if
  /// another value is not used, or if a stage cannot be part of an expression (why_not_composable()). The
  /// variants for missing pixels, transposed images, masks and volumes consist of the same variants of all its
  /// stages; averages are not weighted by alpha.
  /// `default_nodata`: the policy of those stages for missing pixels; the text then names it. Empty: the text
  /// does not change.
  StagePtr stage(std::string text, std::optional<MissingPolicy> default_nodata = {}) const;

  const std::vector<StageNode>& nodes() const noexcept { return nodes_; }

 private:
  std::vector<StageNode> nodes_;
};

/// Why the stage cannot be part of an expression or of a chain within a stage; empty: it can. Its result is not
/// aligned with its input, or it has a second image.
std::string why_not_composable(const Stage& stage);

}  // namespace sepconv
