// scale, cast, clamp, abs, threshold: one element in, one element out.
#include "sepconv/kernels/pointwise/pointwise.hpp"

#include <fmt/format.h>

#include "sepconv/pipeline/stages/definition.hpp"

namespace sepconv {
namespace {

bool needs_f64(const PointwiseOp& op) {
  const double values[] = {op.p, op.q};
  return (op.kind == PointwiseOp::Kind::round_to && op.type == PixelType::f64) ||
         (op.kind == PointwiseOp::Kind::scale && any_beyond_f32(values));
}

class PointwiseStage final : public Stage {
 public:
  PointwiseStage(std::string text, PointwiseOp op)
      : Stage({.needs_f64 = needs_f64(op), .runs_on_device = true, .pointwise = op}),
        text_(std::move(text)),
        op_(op) {}

  std::string text() const override { return text_; }

  ImageSpec output_spec(const ImageSpec& input) const override {
    ImageSpec output = input;
    if (op_.kind == PointwiseOp::Kind::round_to) output.type = op_.type;
    return output;
  }

  void apply(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Arena&) const override {
    const ConstPixelView pixels = in.crop(out.rect).pixels;
    pointwise_host(op_, pixels, pixels, out.pixels, arithmetic);
  }

  void apply_reference(const ConstRegion& in, const Region& out, Arithmetic arithmetic) const override {
    const ConstPixelView pixels = in.crop(out.rect).pixels;
    pointwise_reference(op_, pixels, pixels, out.pixels, arithmetic);
  }

  StagePtr transposed() const override { return shared_from_this(); }

  void enqueue(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Arena&, DeviceStream stream,
               std::span<const PointwiseOp> then) const override {
    const ConstPixelView pixels = in.crop(out.rect).pixels;
    pointwise_cuda(op_, pixels, pixels, out.pixels, arithmetic, stream, then);
  }

 private:
  std::string text_;
  PointwiseOp op_;
};

StagePtr make_scale(const StageArgs& args) {
  const double by = args.number("by", 1);
  const double add = args.number("add", 0);
  return std::make_shared<PointwiseStage>(fmt::format("scale:by={},add={}", by, add),
                                          PointwiseOp{.kind = PointwiseOp::Kind::scale, .p = by, .q = add});
}

StagePtr make_cast(const StageArgs& args) {
  args.text("type");
  const PixelType type = *parse_pixel_type(args.choice("type", {"u8", "u16", "i16", "f32", "f64"}));
  return std::make_shared<PointwiseStage>(fmt::format("cast:type={}", name_of(type)),
                                          PointwiseOp{.kind = PointwiseOp::Kind::round_to, .type = type});
}

StagePtr make_clamp(const StageArgs& args) {
  const double low = args.number("low");
  const double high = args.number("high");
  if (low > high) args.fail("low", "it must not exceed high");
  return std::make_shared<PointwiseStage>(fmt::format("clamp:low={},high={}", low, high),
                                          PointwiseOp{.kind = PointwiseOp::Kind::clamp, .p = low, .q = high});
}

StagePtr make_abs(const StageArgs&) {
  return std::make_shared<PointwiseStage>("abs", PointwiseOp{.kind = PointwiseOp::Kind::absolute});
}

StagePtr make_threshold(const StageArgs& args) {
  const double at = args.number("at");
  const double above = args.number("above", 1);
  const double below = args.number("below", 0);
  return std::make_shared<PointwiseStage>(
      fmt::format("threshold:at={},above={},below={}", at, above, below),
      PointwiseOp{.kind = PointwiseOp::Kind::threshold, .p = at, .q = above, .r = below});
}

}  // namespace

StageDefinitions pointwise_stages() {
  return {{{"scale",
            "x * by + add, rounded once",
            "scale:by=0.5,add=16",
            {{"by", "factor (default 1)"}, {"add", "summand (default 0)"}}},
           make_scale},
          {{"cast",
            "rounds half to even and saturates to another pixel type",
            "cast:type=f32",
            {{"type", "u8, u16, i16, f32 or f64"}}},
           make_cast},
          {{"clamp",
            "limits values to [low, high]",
            "clamp:low=0,high=200",
            {{"low", "least value"}, {"high", "greatest value, not below low"}}},
           make_clamp},
          {{"abs", "absolute value", "abs", {}}, make_abs},
          {{"threshold",
            "above where x > at, else below",
            "threshold:at=128,above=255",
            {{"at", "the threshold"},
             {"above", "value where x > at (default 1)"},
             {"below", "value elsewhere (default 0)"}}},
           make_threshold}};
}

}  // namespace sepconv
