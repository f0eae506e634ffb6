// add, subtract, multiply, divide, min, max, blend: the input and a second image, or what a chain makes of
// the input.
#include <fmt/format.h>

#include "sepconv/pipeline/stages/beside_stage.hpp"
#include "sepconv/pipeline/stages/keys.hpp"
#include "sepconv/pipeline/stages/own_chain_stage.hpp"
#include "sepconv/pipeline/stages/stages.hpp"

namespace sepconv {
namespace {

using Kind = PointwiseOp::Kind;

template <class Options>
Keys keys_beside(Options& options) {
  return {
      {.name = "file",
       .value = &options.file,
       .words = "image of the same size, or one row, column or pixel, which repeats; its channels, or one",
       .needed = true,
       .not_with = "chain"},
      {.name = "chain",
       .value = &options.chain,
       .words = "in place of a file what these stages make of the input: [box:radius=9 | abs]",
       .needed = true,
       .not_with = "file"}};
}

template <class Options>
StagePtr make_beside(const Options& options, const Spelling& spelling, const PointwiseOp& op) {
  if (options.chain.empty()) return beside_stage(spelling, options.file, op);
  return own_chain_stage(spelling, options.chain, op);
}

template <Kind kKind>
constexpr bool propagates = kKind == Kind::lesser || kKind == Kind::greater;

/// Of an operation without parameters. min and max are NaN where either is, as the others are.
template <class Options, Kind kKind>
StagePtr make(const Options& options, const Spelling& spelling) {
  return make_beside(options, spelling, {.kind = kKind, .keeps_missing = propagates<kKind>});
}

Keys blend_keys(BlendOptions& options) {
  return joined({keys_beside(options),
                 {{.name = "alpha",
                   .value = &options.alpha,
                   .words = "share of the second image",
                   .range = between(0, 1)}}});
}

StagePtr make_blend(const BlendOptions& options, const Spelling& spelling) {
  return make_beside(options, spelling, {.kind = Kind::mix, .p = 1 - options.alpha, .q = options.alpha});
}

constexpr StageKind<AddOptions> kAdd{
    "add", "x + y with y of a second image, or of a chain; a number is added by scale:add=",
    "add:chain=sobel:axis=x", keys_beside, make<AddOptions, Kind::sum>};
constexpr StageKind<SubtractOptions> kSubtract{"subtract", "x - y with y of a second image, or of a chain",
                                               "subtract:chain=gaussian:sigma=20", keys_beside,
                                               make<SubtractOptions, Kind::difference>};
constexpr StageKind<MultiplyOptions> kMultiply{
    "multiply", "x y with y of a second image, or of a chain; a number multiplies by scale:by=",
    "multiply:chain=threshold:at=100", keys_beside, make<MultiplyOptions, Kind::product>};
constexpr StageKind<DivideOptions> kDivide{"divide", "x / y with y of a second image, or of a chain",
                                           "divide:chain=[gaussian:sigma=40 | scale:by=0.01]", keys_beside,
                                           make<DivideOptions, Kind::quotient>};
constexpr StageKind<MinOptions> kMin{
    "min", "the lesser of x and y, with y of a second image, or of a chain; clamp limits by a number",
    "min:chain=gaussian:sigma=2", keys_beside, make<MinOptions, Kind::lesser>};
constexpr StageKind<MaxOptions> kMax{
    "max", "the greater of x and y, with y of a second image, or of a chain; clamp limits by a number",
    "max:chain=gaussian:sigma=2", keys_beside, make<MaxOptions, Kind::greater>};
constexpr StageKind<BlendOptions> kBlend{"blend",
                                         "(1 - alpha) x + alpha y with y of a second image, or of a chain",
                                         "blend:chain=gaussian:sigma=5,alpha=0.7", blend_keys, make_blend};

}  // namespace

StagePtr add(const AddOptions& options) { return kAdd(options); }
StagePtr subtract(const SubtractOptions& options) { return kSubtract(options); }
StagePtr multiply(const MultiplyOptions& options) { return kMultiply(options); }
StagePtr divide(const DivideOptions& options) { return kDivide(options); }
StagePtr min(const MinOptions& options) { return kMin(options); }
StagePtr max(const MaxOptions& options) { return kMax(options); }
StagePtr blend(const BlendOptions& options) { return kBlend(options); }
StageEntry AddOptions::entry() { return kAdd.entry(); }
StageEntry SubtractOptions::entry() { return kSubtract.entry(); }
StageEntry MultiplyOptions::entry() { return kMultiply.entry(); }
StageEntry DivideOptions::entry() { return kDivide.entry(); }
StageEntry MinOptions::entry() { return kMin.entry(); }
StageEntry MaxOptions::entry() { return kMax.entry(); }
StageEntry BlendOptions::entry() { return kBlend.entry(); }

}  // namespace sepconv
