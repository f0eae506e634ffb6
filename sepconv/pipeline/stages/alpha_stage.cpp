#include "sepconv/pipeline/stages/alpha_stage.hpp"

#include <utility>

namespace sepconv {
namespace {

class AlphaStage final : public Stage {
 public:
  AlphaStage(std::string text, const AlphaOp& op)
      : Stage({.of_one_pixel = true,
               .runs_on_device = true,
               .growth = 1,
               .settles_missing = true,
               .keeps_missing = true,
               .alpha = op}),
        text_(std::move(text)) {}

  std::string text() const override { return text_; }
  StagePtr transposed() const override { return shared_from_this(); }

  void apply(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Worker&) const override {
    alpha_host(op(), in.crop(out.rect).pixels, out.pixels, arithmetic);
  }
  void apply_reference(const ConstRegion& in, const Region& out, Arithmetic arithmetic) const override {
    alpha_host(op(), in.crop(out.rect).pixels, out.pixels, arithmetic);
  }
  void enqueue(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Arena&, DeviceStream stream,
               std::span<const PointwiseOp> then) const override {
    alpha_cuda(op(), in.crop(out.rect).pixels, out.pixels, arithmetic, stream, then);
  }

 private:
  const AlphaOp& op() const noexcept { return *traits().alpha; }

  std::string text_;
};

}  // namespace

StagePtr alpha_stage(std::string text, const AlphaOp& op) {
  return std::make_shared<AlphaStage>(std::move(text), op);
}

}  // namespace sepconv
