// invert: white - x, rounded once.
#include "sepconv/stage.hpp"

namespace sepconv {

struct InvertOptions {
  double white = 255;  ///< value that becomes 0
};

namespace {

class InvertStage final : public Stage {
 public:
  InvertStage(std::string text, double white)
      : Stage({.text = std::move(text),
               .traits = {.pointwise = PointwiseOp{.kind = PointwiseOp::Kind::scale, .p = -1, .q = white}},
               .properties = {.runs_on_device = true}}) {}

  void apply(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Worker&) const override {
    const ConstPixelView pixels = in.crop(out.rect).pixels;
    pointwise_host(*traits().pointwise, pixels, pixels, out.pixels, arithmetic);
  }

  void apply_reference(const ConstRegion& in, const Region& out, Arithmetic arithmetic) const override {
    const ConstPixelView pixels = in.crop(out.rect).pixels;
    pointwise_reference(*traits().pointwise, pixels, pixels, out.pixels, arithmetic);
  }

  void enqueue(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Arena&, DeviceStream stream,
               const Epilogue& epilogue) const override {
    const ConstPixelView pixels = in.crop(out.rect).pixels;
    pointwise_device(*traits().pointwise, pixels, pixels, out.pixels, arithmetic, stream, epilogue.ops);
  }
};

Keys keys(InvertOptions& options) {
  return {{.name = "white", .value = &options.white, .words = "value that becomes 0", .range = above(0)}};
}

StagePtr make(const InvertOptions& options, const StageArguments& stage_args) {
  return std::make_shared<InvertStage>(stage_args.text(), options.white);
}

constexpr StageKind<InvertOptions> kInvert{"invert", "white - x, rounded once", "invert:white=255", keys,
                                           make};

}  // namespace

StagePtr invert(const InvertOptions& options) { return kInvert(options); }
StageEntry invert_entry() { return kInvert.entry(); }

}  // namespace sepconv

#include <cstdint>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "sepconv/sepconv.hpp"

namespace {

bool is_right(const sepconv::Chain& chain) {
  const std::vector<std::uint8_t> in{0, 1, 200, 255};
  std::vector<std::uint8_t> out(4);
  sepconv::apply(chain, sepconv::view_of(in.data(), {2, 2}), sepconv::view_of(out.data(), {2, 2}));
  return out == std::vector<std::uint8_t>{200, 199, 0, 0};
}

bool is_refused(const std::string& text, const sepconv::StageTable& stages, std::string_view sentence) {
  try {
    sepconv::parse_stage(text, stages);
  } catch (const sepconv::InvalidArgument& error) {
    return error.what() == sentence;
  }
  return false;
}

}  // namespace

/// Uses the stage of docs/adding-a-stage.md from outside of sepconv.
int main() {
  sepconv::StageTable stages = sepconv::stage_table();
  stages.push_back(sepconv::invert_entry());
  const auto chain = sepconv::Chain::parse({"abs", "invert:white=200"}, stages);

  const bool right =
      is_right(chain) && is_right(sepconv::invert({.white = 200})) &&
      chain.text() == (sepconv::abs() | sepconv::invert({.white = 200})).text() &&
      is_refused("invert:white=0", stages, "stage 'invert' cannot take white=0: it must be greater than 0") &&
      is_refused("invert:wite=9", stages,
                 "stage 'invert' has no key 'wite' (did you mean 'white'?); its keys are white");
  std::cout << (right ? "inverted\n" : "wrong values\n");
  return right ? 0 : 1;
}
