// Options of the stages that combine their input with a second image or with the result of a subchain. Part
// of stages.hpp.
#pragma once

#include <string>

#include "pipeline/chain/chain.hpp"
#include "pipeline/chain/secondary_input.hpp"

namespace sepconv {

/// Either `file` or `chain` is needed: subtract({.file = "dark.tif"}), subtract({.chain = gaussian({.sigma =
/// 20})}).
template <PointwiseOp::Kind kKind>
struct JoinOptions {
  SecondaryImage file{};  ///< as large as the input, or one row, column or pixel, which repeats
  Chain chain{};          ///< alternative to file: these stages applied to the input
  std::string axes{};     ///< axes of an array in the file, as OpenOptions::axes
  static StageEntry entry();
};
using AddOptions = JoinOptions<PointwiseOp::Kind::sum>;
using SubtractOptions = JoinOptions<PointwiseOp::Kind::difference>;
using MultiplyOptions = JoinOptions<PointwiseOp::Kind::product>;
using DivideOptions = JoinOptions<PointwiseOp::Kind::quotient>;
using MinOptions = JoinOptions<PointwiseOp::Kind::lesser>;
using MaxOptions = JoinOptions<PointwiseOp::Kind::greater>;

template <>
StageEntry AddOptions::entry();
template <>
StageEntry SubtractOptions::entry();
template <>
StageEntry MultiplyOptions::entry();
template <>
StageEntry DivideOptions::entry();
template <>
StageEntry MinOptions::entry();
template <>
StageEntry MaxOptions::entry();

/// (1 - alpha) * input + alpha * second image.
struct BlendOptions {
  SecondaryImage file{};
  Chain chain{};
  std::string axes{};
  double alpha = 0.5;  ///< 0 to 1
  static StageEntry entry();
};

StagePtr add(const AddOptions& options);
StagePtr subtract(const SubtractOptions& options);
StagePtr multiply(const MultiplyOptions& options);
StagePtr divide(const DivideOptions& options);
StagePtr min(const MinOptions& options);
StagePtr max(const MaxOptions& options);
StagePtr blend(const BlendOptions& options);

}  // namespace sepconv
