// scale, cast, clamp, abs, threshold: one element in, one element out.
#include "kernels/pointwise/pointwise.hpp"

#include <fmt/format.h>

#include <limits>

#include "io/full_scale.hpp"
#include "pipeline/stages/f32_range.hpp"
#include "pipeline/stages/keys.hpp"
#include "pipeline/stages/pointwise_stage.hpp"
#include "pipeline/stages/stages.hpp"

namespace sepconv {
namespace {

double max_gain_of(const PointwiseOp& op) {
  switch (op.kind) {
    case PointwiseOp::Kind::scale:
      return std::abs(op.p) + std::abs(op.q);
    case PointwiseOp::Kind::clamp:
      return 1 + std::max(std::isfinite(op.p) ? std::abs(op.p) : 0, std::isfinite(op.q) ? std::abs(op.q) : 0);
    case PointwiseOp::Kind::threshold:
      return std::max(std::abs(op.q), std::abs(op.r));
    case PointwiseOp::Kind::magnitude:
    case PointwiseOp::Kind::sum:
    case PointwiseOp::Kind::difference:
      return 2;
    case PointwiseOp::Kind::unsharp:
      return 1 + 2 * std::abs(op.p);
    case PointwiseOp::Kind::mix:
      return std::abs(op.p) + std::abs(op.q);
    case PointwiseOp::Kind::product:
    case PointwiseOp::Kind::quotient:
    case PointwiseOp::Kind::renormalise:
      return std::numeric_limits<double>::infinity();
    default:
      return 1;
  }
}

/// Whether stretching to this type needs f64: f32 cannot represent all intermediate values for 16 bits.
bool needs_f64(PixelType to) { return to != PixelType::u8 && to != PixelType::f32; }

bool needs_f64(const PointwiseOp& op) {
  const double values[] = {op.p, op.q};
  return (op.kind == PointwiseOp::Kind::round_to && op.type == PixelType::f64) ||
         ((op.kind == PointwiseOp::Kind::scale || op.kind == PointwiseOp::Kind::unsharp ||
           op.kind == PointwiseOp::Kind::mix) &&
          any_beyond_f32(values));
}

/// Whether the operation is linear over complex numbers whose parts are separate elements.
bool is_by_parts(const PointwiseOp& op) {
  switch (op.kind) {
    case PointwiseOp::Kind::scale:
      return op.q == 0;
    case PointwiseOp::Kind::round_to:
      return is_floating(op.type);
    case PointwiseOp::Kind::unsharp:
      return op.q <= 0;
    default:
      return op.kind == PointwiseOp::Kind::sum || op.kind == PointwiseOp::Kind::difference ||
             op.kind == PointwiseOp::Kind::mix;
  }
}

class PointwiseStage final : public Stage {
 public:
  /// `to`: the result type of a stretch. Empty: the input type, or the type that `op` rounds to.
  PointwiseStage(std::string text, PointwiseOp op, std::optional<PixelType> to = {})
      : Stage({.text = std::move(text),
               .traits = {.pointwise = op, .nan = {.propagates = true, .max_gain = max_gain_of(op)}},
               .properties = {.casts = to || op.kind == PointwiseOp::Kind::round_to,
                              .is_complex_linear = is_by_parts(op) && (!to || is_floating(*to)),
                              .needs_f64 = needs_f64(op) || (to && needs_f64(*to)),
                              .runs_on_device = true,
                              .handles_nodata = true,
                              .rounds_to = op.kind == PointwiseOp::Kind::round_to ? std::optional(op.type)
                                                                                  : std::nullopt,
                              .opaque = to ? std::optional(full_scale(*to)) : std::nullopt}}),
        op_(op),
        to_(op.kind == PointwiseOp::Kind::round_to ? std::optional(op.type) : to) {}

  ImageSpec output_spec(const ImageSpec& input) const override {
    ImageSpec output = input;
    output.type = to_.value_or(input.type);
    return output;
  }

  void apply(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Worker&) const override {
    const ConstPixelView pixels = in.crop(out.rect).pixels;
    pointwise_host(op_, pixels, pixels, out.pixels, arithmetic);
  }

  void apply_reference(const ConstRegion& in, const Region& out, Arithmetic arithmetic) const override {
    const ConstPixelView pixels = in.crop(out.rect).pixels;
    pointwise_reference(op_, pixels, pixels, out.pixels, arithmetic);
  }

  StagePtr transposed() const override { return shared_from_this(); }

  StagePtr with_nodata() const override {
    PointwiseOp op = op_;
    op.propagates_nodata = true;
    return std::make_shared<PointwiseStage>(text(), op, to_);
  }

  void enqueue(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Arena&, DeviceStream stream,
               const Epilogue& epilogue) const override {
    const ConstPixelView pixels = in.crop(out.rect).pixels;
    pointwise_device(op_, pixels, pixels, out.pixels, arithmetic, stream, epilogue.ops);
  }

 private:
  PointwiseOp op_;
  std::optional<PixelType> to_;
};

StagePtr make_pointwise(const StageArguments& stage_args, PointwiseOp op) {
  return pointwise_stage(stage_args.text(), op);
}

Keys keys(ScaleOptions& options) {
  return {{.name = "factor", .value = &options.factor, .words = "factor", .former_name = "by"},
          {.name = "offset", .value = &options.offset, .words = "offset, added last", .former_name = "add"}};
}

StagePtr make(const ScaleOptions& options, const StageArguments& stage_args) {
  return make_pointwise(stage_args,
                        {.kind = PointwiseOp::Kind::scale, .p = options.factor, .q = options.offset});
}

ChoiceWords<PixelType> type_words() {
  ChoiceWords<PixelType> types;
  for (const PixelType type : kPixelTypes) types.emplace_back(name_of(type), type);
  return types;
}

Keys keys(CastOptions& options) {
  return {
      {.name = "type", .value = choice(options.type, type_words()), .words = "pixel type", .needed = true}};
}

StagePtr make(const CastOptions& options, const StageArguments& stage_args) {
  return make_pointwise(stage_args, {.kind = PointwiseOp::Kind::round_to, .type = *options.type});
}

Keys keys(StretchOptions& options) {
  return {
      {.name = "low", .value = &options.low, .words = "value that becomes 0", .needed = true},
      {.name = "high",
       .value = &options.high,
       .words = "value that becomes the maximum of the type (f32, f64: 1)",
       .needed = true},
      {.name = "type", .value = choice(options.type, type_words()), .words = "pixel type", .needed = true}};
}

StagePtr make(const StretchOptions& options, const StageArguments& stage_args) {
  const double low = *options.low;
  const double width = *options.high - low;
  if (width == 0) stage_args.refuse("high", "it must differ from low");
  const double max_value = full_scale(*options.type);
  const PointwiseOp op{
      .kind = PointwiseOp::Kind::scale, .p = max_value / width, .q = -low * max_value / width};
  return std::make_shared<PointwiseStage>(stage_args.text(), op, options.type);
}

Keys keys(ClampOptions& options) {
  return {{.name = "low", .value = &options.low, .words = "lower limit; default: none"},
          {.name = "high", .value = &options.high, .words = "upper limit; default: none"}};
}

StagePtr make(const ClampOptions& options, const StageArguments& stage_args) {
  if (!options.low && !options.high) stage_args.refuse("low", "it or high must be given");
  const ValueRange all;
  const double low = options.low.value_or(all.low), high = options.high.value_or(all.high);
  if (low > high) stage_args.refuse("low", "it must not exceed high");
  return make_pointwise(stage_args, {.kind = PointwiseOp::Kind::clamp, .p = low, .q = high});
}

Keys keys(AbsOptions&) { return {}; }

StagePtr make(const AbsOptions&, const StageArguments& stage_args) {
  return make_pointwise(stage_args, {.kind = PointwiseOp::Kind::absolute});
}

Keys keys(ThresholdOptions& options) {
  return {{.name = "at", .value = &options.at, .words = "the threshold", .needed = true},
          {.name = "above", .value = &options.above, .words = "value where x > at"},
          {.name = "below", .value = &options.below, .words = "value elsewhere"}};
}

StagePtr make(const ThresholdOptions& options, const StageArguments& stage_args) {
  return make_pointwise(
      stage_args,
      {.kind = PointwiseOp::Kind::threshold, .p = *options.at, .q = options.above, .r = options.below});
}

constexpr StageKind<ScaleOptions> kScale{"scale",
                                         "x * factor + offset, rounded once (for another size: "
                                         "resize)",
                                         "scale:factor=0.5,offset=16", keys, make};
constexpr StageKind<CastOptions> kCast{
    "cast", "converts to another pixel type: rounds half to even and saturates", "cast:type=f32", keys, make};
constexpr StageKind<StretchOptions> kStretch{"stretch",
                                             "maps low..high to the whole range of another pixel type",
                                             "stretch:low=0,high=4095,type=u8", keys, make};
constexpr StageKind<ClampOptions> kClamp{"clamp", "limits values to [low, high], or on one side",
                                         "clamp:low=0,high=200", keys, make};
constexpr StageKind<AbsOptions> kAbs{"abs", "absolute value", "abs", keys, make};
constexpr StageKind<ThresholdOptions> kThreshold{"threshold", "above where x > at, else below",
                                                 "threshold:at=128,above=255", keys, make};

}  // namespace

StagePtr pointwise_stage(std::string text, const PointwiseOp& op) {
  return std::make_shared<PointwiseStage>(std::move(text), op);
}

StagePtr scale(const ScaleOptions& options) { return kScale(options); }
StagePtr cast(const CastOptions& options) { return kCast(options); }
StagePtr stretch(const StretchOptions& options) { return kStretch(options); }
StagePtr clamp(const ClampOptions& options) { return kClamp(options); }
StagePtr abs(const AbsOptions& options) { return kAbs(options); }
StagePtr threshold(const ThresholdOptions& options) { return kThreshold(options); }
StageEntry ScaleOptions::entry() { return kScale.entry(); }
StageEntry CastOptions::entry() { return kCast.entry(); }
StageEntry StretchOptions::entry() { return kStretch.entry(); }
StageEntry ClampOptions::entry() { return kClamp.entry(); }
StageEntry AbsOptions::entry() { return kAbs.entry(); }
StageEntry ThresholdOptions::entry() { return kThreshold.entry(); }

}  // namespace sepconv
