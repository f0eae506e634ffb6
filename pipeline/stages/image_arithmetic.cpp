// add, subtract, multiply, divide, min, max, blend: operations on the input and either a second image or the
// result of a subchain.
#include <fmt/format.h>

#include "pipeline/stages/binary_op_stage.hpp"
#include "pipeline/stages/keys.hpp"
#include "pipeline/stages/stages.hpp"
#include "pipeline/stages/subchain_stage.hpp"

namespace sepconv {
namespace {

using Kind = PointwiseOp::Kind;

template <class Options>
Keys binary_op_keys(Options& options) {
  return {
      {.name = "file",
       .value = &options.file,
       .words = "second image, of the same size, or one row, column or pixel, which is broadcast; with as "
                "many channels, or one",
       .needed = true,
       .not_with = "chain"},
      {.name = "chain",
       .value = &options.chain,
       .words = "stages in brackets, applied to the input, in place of a file: [box:radius=9 | abs]",
       .needed = true,
       .not_with = "file"},
      {.name = "axes",
       .value = &options.axes,
       .words =
           "axis letters of an array in the file (NPY, Zarr), such as zyx; default: from its shape or its "
           "names",
       .only_with = "file"}};
}

template <class Options>
StagePtr make_binary_op(const Options& options, const StageArguments& stage_args, const PointwiseOp& op) {
  if (options.chain.empty()) return binary_op_stage(stage_args, options.file, options.axes, op);
  return subchain_stage(stage_args, options.chain, op);
}

/// min and max are NaN if either operand is, as in the other operations.
template <Kind kKind>
StagePtr make_joined(const JoinOptions<kKind>& options, const StageArguments& stage_args) {
  constexpr bool compares = kKind == Kind::lesser || kKind == Kind::greater;
  return make_binary_op(options, stage_args, {.kind = kKind, .propagates_nodata = compares});
}

template <Kind kKind>
constexpr StageKind<JoinOptions<kKind>> joined_kind(std::string_view name, std::string_view help,
                                                    std::string_view example) {
  return {name, help, example, binary_op_keys<JoinOptions<kKind>>, make_joined<kKind>};
}

Keys blend_keys(BlendOptions& options) {
  return joined({binary_op_keys(options),
                 {{.name = "alpha",
                   .value = &options.alpha,
                   .words = "weight of the second image",
                   .range = between(0, 1)}}});
}

StagePtr make_blend(const BlendOptions& options, const StageArguments& stage_args) {
  return make_binary_op(options, stage_args, {.kind = Kind::mix, .p = 1 - options.alpha, .q = options.alpha});
}

constexpr auto kAdd = joined_kind<Kind::sum>(
    "add", "x + y with y of a second image, or of a chain; a number is added by scale:offset=",
    "add:chain=[sobel:axis=x]");
constexpr auto kSubtract = joined_kind<Kind::difference>(
    "subtract", "x - y with y of a second image, or of a chain", "subtract:chain=[gaussian:sigma=20]");
constexpr auto kMultiply = joined_kind<Kind::product>(
    "multiply", "x y with y of a second image, or of a chain; a number multiplies by scale:factor=",
    "multiply:chain=[threshold:at=100]");
constexpr auto kDivide = joined_kind<Kind::quotient>(
    "divide", "x / y with y of a second image, or of a chain", "divide:chain=[gaussian:sigma=40]");
constexpr auto kMin = joined_kind<Kind::lesser>(
    "min", "minimum of x and y, with y of a second image, or of a chain; clamp limits by a number",
    "min:chain=[gaussian:sigma=2]");
constexpr auto kMax = joined_kind<Kind::greater>(
    "max", "maximum of x and y, with y of a second image, or of a chain; clamp limits by a number",
    "max:chain=[gaussian:sigma=2]");
constexpr StageKind<BlendOptions> kBlend{"blend",
                                         "(1 - alpha) x + alpha y with y of a second image, or of a chain",
                                         "blend:chain=[gaussian:sigma=5],alpha=0.7", blend_keys, make_blend};

}  // namespace

template <>
StageEntry AddOptions::entry() {
  return kAdd.entry();
}
template <>
StageEntry SubtractOptions::entry() {
  return kSubtract.entry();
}
template <>
StageEntry MultiplyOptions::entry() {
  return kMultiply.entry();
}
template <>
StageEntry DivideOptions::entry() {
  return kDivide.entry();
}
template <>
StageEntry MinOptions::entry() {
  return kMin.entry();
}
template <>
StageEntry MaxOptions::entry() {
  return kMax.entry();
}
StageEntry BlendOptions::entry() { return kBlend.entry(); }

StagePtr add(const AddOptions& options) { return kAdd(options); }
StagePtr subtract(const SubtractOptions& options) { return kSubtract(options); }
StagePtr multiply(const MultiplyOptions& options) { return kMultiply(options); }
StagePtr divide(const DivideOptions& options) { return kDivide(options); }
StagePtr min(const MinOptions& options) { return kMin(options); }
StagePtr max(const MaxOptions& options) { return kMax(options); }
StagePtr blend(const BlendOptions& options) { return kBlend(options); }

}  // namespace sepconv
