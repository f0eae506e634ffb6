#include "pipeline/stages/alpha_stage.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "io/reader.hpp"

namespace sepconv {
namespace {

bool weighs(const AlphaOp& op) {
  using enum AlphaOp::Kind;
  return op.kind == multiply || op.kind == divide || op.kind == clear;
}

double max_gain_of(const AlphaOp& op) {
  if (op.kind == AlphaOp::Kind::rescale) return std::max(1.0, op.p / op.r);
  return weighs(op) ? std::numeric_limits<double>::infinity() : 1;
}

class AlphaStage final : public Stage {
 public:
  AlphaStage(std::string text, const AlphaOp& op)
      : Stage(
            {.text = std::move(text),
             .traits = {.alpha = op,
                        .nan = {.propagates = !weighs(op) || std::isnan(op.p), .max_gain = max_gain_of(op)}},
             .properties = {.is_per_pixel = true,
                            .runs_on_device = true,
                            .device_kernels = DeviceKernels::alpha,
                            .handles_nodata = true}}) {}

  StagePtr transposed() const override { return shared_from_this(); }

  void apply(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Worker&) const override {
    alpha_host(op(), in.crop(out.rect).pixels, out.pixels, arithmetic);
  }
  void apply_reference(const ConstRegion& in, const Region& out, Arithmetic arithmetic) const override {
    alpha_host(op(), in.crop(out.rect).pixels, out.pixels, arithmetic);
  }
  void enqueue(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Arena&, DeviceStream stream,
               const Epilogue& epilogue) const override {
    alpha_device(op(), in.crop(out.rect).pixels, out.pixels, arithmetic, stream, epilogue.ops);
  }

 private:
  const AlphaOp& op() const noexcept { return *traits().alpha; }
};

StageDeclaration of_colours(StageDeclaration declaration) {
  declaration.text += " (of colours)";
  declaration.properties.is_per_pixel =
      declaration.properties.is_per_pixel || declaration.traits.pointwise.has_value();
  declaration.traits.pointwise.reset();
  declaration.traits.nan.fuses = false;
  declaration.traits.fuses_join = false;
  declaration.properties.device_kernels |= DeviceKernels::alpha;
  return declaration;
}

class ColoursStage final : public Stage {
 public:
  ColoursStage(StagePtr stage, std::int64_t alpha)
      : Stage(of_colours(stage->declaration())), stage_(std::move(stage)), alpha_(alpha) {}

  ImageSpec output_spec(const ImageSpec& input) const override { return stage_->output_spec(input); }
  Rect input_for(const Rect& output, const ImageSpec& input) const override {
    return stage_->input_for(output, input);
  }
  Extent max_input_extent(Extent output, const ImageSpec& input) const override {
    return stage_->max_input_extent(output, input);
  }
  ValueRange result_range(const ValueRange& input) const override { return stage_->result_range(input); }
  StagePtr transposed() const override {
    StagePtr transposed_stage = stage_->transposed();
    return transposed_stage ? colours_only_stage(std::move(transposed_stage), alpha_) : nullptr;
  }
  Extent transposed_item(const ImageSpec& input) const override { return stage_->transposed_item(input); }
  double operations_per_element(Scratch scratch, const ImageSpec& input) const override {
    return stage_->operations_per_element(scratch, input);
  }
  std::int64_t scratch_bytes(Scratch scratch, Extent output, const ImageSpec& input,
                             Arithmetic arithmetic) const override {
    return stage_->scratch_bytes(scratch, output, input, arithmetic);
  }
  std::unique_ptr<Reader> open_secondary(const ImageSpec& input) const override {
    return stage_->open_secondary(input);
  }
  StagePtr bind_secondary(const ConstRegion& second) const override {
    return colours_only_stage(stage_->bind_secondary(second), alpha_);
  }
  StagePtr for_raster(std::int64_t raster, const RasterAxes& axes) const override {
    return colours_only_stage(stage_->for_raster(raster, axes), alpha_);
  }
  StagePtr on_device(std::byte* memory, DeviceStream stream) const override {
    return colours_only_stage(stage_->on_device(memory, stream), alpha_);
  }

  void apply(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Worker& worker) const override {
    stage_->apply(in, out, arithmetic, worker);
    keep_alpha_host(alpha_, in.crop(out.rect).pixels, out.pixels, arithmetic);
  }
  void apply_reference(const ConstRegion& in, const Region& out, Arithmetic arithmetic) const override {
    stage_->apply_reference(in, out, arithmetic);
    keep_alpha_host(alpha_, in.crop(out.rect).pixels, out.pixels, arithmetic);
  }
  void enqueue(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Arena& arena,
               DeviceStream stream, const Epilogue& epilogue) const override {
    stage_->enqueue(in, out, arithmetic, arena, stream, {});
    keep_alpha_device(alpha_, in.crop(out.rect).pixels, out.pixels, arithmetic, stream, epilogue.ops);
  }

 private:
  StagePtr stage_;
  std::int64_t alpha_;
};

}  // namespace

StagePtr colours_only_stage(StagePtr stage, std::int64_t alpha) {
  return std::make_shared<ColoursStage>(std::move(stage), alpha);
}

StagePtr alpha_stage(std::string text, const AlphaOp& op) {
  return std::make_shared<AlphaStage>(std::move(text), op);
}

}  // namespace sepconv
