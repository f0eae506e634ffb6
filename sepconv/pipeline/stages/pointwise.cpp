// scale, cast, clamp, abs, threshold: one element in, one element out.
#include "sepconv/kernels/pointwise/pointwise.hpp"

#include <fmt/format.h>

#include "sepconv/pipeline/stages/f32_range.hpp"
#include "sepconv/pipeline/stages/keys.hpp"
#include "sepconv/pipeline/stages/pointwise_stage.hpp"
#include "sepconv/pipeline/stages/stages.hpp"

namespace sepconv {
namespace {

double growth_of(const PointwiseOp& op) {
  switch (op.kind) {
    case PointwiseOp::Kind::scale:
      return std::abs(op.p) + std::abs(op.q);
    case PointwiseOp::Kind::clamp:
      return 1 + std::max(std::abs(op.p), std::abs(op.q));
    case PointwiseOp::Kind::threshold:
      return std::max(std::abs(op.q), std::abs(op.r));
    default:
      return 1;
  }
}

bool needs_f64(const PointwiseOp& op) {
  const double values[] = {op.p, op.q};
  return (op.kind == PointwiseOp::Kind::round_to && op.type == PixelType::f64) ||
         (op.kind == PointwiseOp::Kind::scale && any_beyond_f32(values));
}

bool is_by_parts(const PointwiseOp& op) {
  return (op.kind == PointwiseOp::Kind::scale && op.q == 0) ||
         (op.kind == PointwiseOp::Kind::round_to && is_floating(op.type));
}

class PointwiseStage final : public Stage {
 public:
  PointwiseStage(std::string text, PointwiseOp op)
      : Stage({.by_parts = is_by_parts(op),
               .needs_f64 = needs_f64(op),
               .runs_on_device = true,
               .growth = growth_of(op),
               .settles_missing = true,
               .keeps_missing = true,
               .pointwise = op}),
        text_(std::move(text)),
        op_(op) {}

  std::string text() const override { return text_; }

  ImageSpec output_spec(const ImageSpec& input) const override {
    ImageSpec output = input;
    if (op_.kind == PointwiseOp::Kind::round_to) output.type = op_.type;
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

  StagePtr honouring_missing() const override {
    PointwiseOp op = op_;
    op.keeps_missing = true;
    return std::make_shared<PointwiseStage>(text_, op);
  }

  void enqueue(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Arena&, DeviceStream stream,
               std::span<const PointwiseOp> then) const override {
    const ConstPixelView pixels = in.crop(out.rect).pixels;
    pointwise_cuda(op_, pixels, pixels, out.pixels, arithmetic, stream, then);
  }

 private:
  std::string text_;
  PointwiseOp op_;
};

StagePtr make_pointwise(const Spelling& spelling, PointwiseOp op) {
  return pointwise_stage(spelling.text(), op);
}

Keys keys(ScaleOptions& options) {
  return {{.name = "by", .value = &options.by, .words = "factor"},
          {.name = "add", .value = &options.add, .words = "summand"}};
}

StagePtr make(const ScaleOptions& options, const Spelling& spelling) {
  return make_pointwise(spelling, {.kind = PointwiseOp::Kind::scale, .p = options.by, .q = options.add});
}

Keys keys(CastOptions& options) {
  ChoiceWords<PixelType> types;
  for (const PixelType type : kPixelTypes) types.emplace_back(name_of(type), type);
  return {{.name = "type", .value = choice(options.type, types), .words = "pixel type", .needed = true}};
}

StagePtr make(const CastOptions& options, const Spelling& spelling) {
  return make_pointwise(spelling, {.kind = PointwiseOp::Kind::round_to, .type = *options.type});
}

Keys keys(ClampOptions& options) {
  return {{.name = "low", .value = &options.low, .words = "least value", .needed = true},
          {.name = "high", .value = &options.high, .words = "greatest value, not below low", .needed = true}};
}

StagePtr make(const ClampOptions& options, const Spelling& spelling) {
  if (*options.low > *options.high) spelling.refuse("low", "it must not exceed high");
  return make_pointwise(spelling, {.kind = PointwiseOp::Kind::clamp, .p = *options.low, .q = *options.high});
}

Keys keys(AbsOptions&) { return {}; }

StagePtr make(const AbsOptions&, const Spelling& spelling) {
  return make_pointwise(spelling, {.kind = PointwiseOp::Kind::absolute});
}

Keys keys(ThresholdOptions& options) {
  return {{.name = "at", .value = &options.at, .words = "the threshold", .needed = true},
          {.name = "above", .value = &options.above, .words = "value where x > at"},
          {.name = "below", .value = &options.below, .words = "value elsewhere"}};
}

StagePtr make(const ThresholdOptions& options, const Spelling& spelling) {
  return make_pointwise(
      spelling,
      {.kind = PointwiseOp::Kind::threshold, .p = *options.at, .q = options.above, .r = options.below});
}

constexpr StageKind<ScaleOptions> kScale{"scale", "x * by + add, rounded once; resize makes another size",
                                         "scale:by=0.5,add=16", keys, make};
constexpr StageKind<CastOptions> kCast{"cast", "rounds half to even and saturates to another pixel type",
                                       "cast:type=f32", keys, make};
constexpr StageKind<ClampOptions> kClamp{"clamp", "limits values to [low, high]", "clamp:low=0,high=200",
                                         keys, make};
constexpr StageKind<AbsOptions> kAbs{"abs", "absolute value", "abs", keys, make};
constexpr StageKind<ThresholdOptions> kThreshold{"threshold", "above where x > at, else below",
                                                 "threshold:at=128,above=255", keys, make};

}  // namespace

StagePtr pointwise_stage(std::string text, const PointwiseOp& op) {
  return std::make_shared<PointwiseStage>(std::move(text), op);
}

StagePtr scale(const ScaleOptions& options) { return kScale(options); }
StagePtr cast(const CastOptions& options) { return kCast(options); }
StagePtr clamp(const ClampOptions& options) { return kClamp(options); }
StagePtr abs(const AbsOptions& options) { return kAbs(options); }
StagePtr threshold(const ThresholdOptions& options) { return kThreshold(options); }
StageEntry ScaleOptions::entry() { return kScale.entry(); }
StageEntry CastOptions::entry() { return kCast.entry(); }
StageEntry ClampOptions::entry() { return kClamp.entry(); }
StageEntry AbsOptions::entry() { return kAbs.entry(); }
StageEntry ThresholdOptions::entry() { return kThreshold.entry(); }

}  // namespace sepconv
