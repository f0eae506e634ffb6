// invert: white - x, rounded once.
#include <fmt/format.h>

#include "sepconv/pipeline/stages/definition.hpp"

namespace sepconv {
namespace {

class InvertStage final : public Stage {
 public:
  explicit InvertStage(double white)
      : InvertStage(white, {.kind = PointwiseOp::Kind::scale, .p = -1, .q = white}) {}

  std::string text() const override { return fmt::format("invert:white={}", white_); }

  void apply(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Arena&) const override {
    const ConstPixelView pixels = in.crop(out.rect).pixels;
    pointwise_host(op_, pixels, pixels, out.pixels, arithmetic);
  }

  void apply_reference(const ConstRegion& in, const Region& out, Arithmetic arithmetic) const override {
    const ConstPixelView pixels = in.crop(out.rect).pixels;
    pointwise_reference(op_, pixels, pixels, out.pixels, arithmetic);
  }

  void enqueue(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Arena&, DeviceStream stream,
               std::span<const PointwiseOp> then) const override {
    const ConstPixelView pixels = in.crop(out.rect).pixels;
    pointwise_cuda(op_, pixels, pixels, out.pixels, arithmetic, stream, then);
  }

 private:
  InvertStage(double white, PointwiseOp op)
      : Stage({.runs_on_device = true, .pointwise = op}), white_(white), op_(op) {}

  double white_;
  PointwiseOp op_;
};

StagePtr make_invert(const StageArgs& args) {
  const double white = args.number("white", 255);  // throws a sentence that names the stage and the key
  if (white <= 0) args.fail("white", "it must be greater than 0");
  return std::make_shared<InvertStage>(white);
}

}  // namespace

StageDefinitions invert_stages() {
  return {{{"invert",
            "white - x, rounded once",
            "invert:white=255",
            {{"white", "value that becomes 0 (default 255)"}}},
           make_invert}};
}

}  // namespace sepconv

#include <cstdint>
#include <iostream>
#include <vector>

#include "sepconv/sepconv.hpp"

/// The stage of docs/adding-a-stage.md at work, from outside of the registry.
int main() {
  const sepconv::StageDefinition definition = sepconv::invert_stages().front();
  const sepconv::Chain chain({definition.make(sepconv::StageArgs("invert:white=200"))});
  const std::vector<std::uint8_t> in{0, 1, 200, 255};
  std::vector<std::uint8_t> out(4);
  sepconv::apply(chain, sepconv::view_of(in.data(), {2, 2}), sepconv::view_of(out.data(), {2, 2}));
  const bool right = out == std::vector<std::uint8_t>{200, 199, 0, 0};
  std::cout << (right ? "inverted\n" : "wrong values\n");
  return right ? 0 : 1;
}
