#include <utility>

#include "pipeline/stages/execution_backends.hpp"
#include "pipeline/stages/volume_filter_stage.hpp"

namespace sepconv {
namespace {

using Kind = PointwiseOp::Kind;

StageDeclaration declaration_of(StageDeclaration declaration, const VolumeDeviation& deviation,
                                Extent plane) {
  declaration.text = "(deviation)";
  declaration.traits.nan.fuses = false;
  declaration.traits.work.halo_in_columns = true;
  declaration.properties.runs_on_device =
      declaration.properties.runs_on_device && deviation.means->properties().runs_on_device;
  declaration.properties.device_kernels |=
      deviation.means->properties().device_kernels | DeviceKernels::deviations;
  declaration.properties.tile_cols = plane.cols;
  return declaration;
}

class VolumeDeviationStage final : public Stage {
 public:
  VolumeDeviationStage(const StageDeclaration& declaration, VolumeDeviation deviation, Extent plane)
      : Stage(declaration_of(declaration, deviation, plane)),
        deviation_(std::move(deviation)),
        plane_(plane) {}

  Rect input_for(const Rect& output, const ImageSpec& input) const override {
    return output.include(deviation_.means->input_for(output, input));
  }
  Extent max_input_extent(Extent output, const ImageSpec& input) const override {
    return deviation_.means->max_input_extent(output, input);  // both averages have the same footprint
  }
  double operations_per_element(Scratch scratch, const ImageSpec& input) const override {
    constexpr double kInF64 = 4;  // measured: two averages of f64, and the differences of windows
    return 2 * kInF64 * deviation_.means->operations_per_element(scratch, input);
  }

  std::int64_t scratch_bytes(Scratch scratch, Extent output, const ImageSpec& input,
                             Arithmetic arithmetic) const override {
    const auto view = [&](Extent extent, Arithmetic of) {
      return Arena::view_bytes(extent, input.channels, pixel_type_of(of));
    };
    const auto average_bytes = [&](const StagePtr& average) {
      return average->scratch_bytes(scratch, output, input, Arithmetic::f64);
    };
    return std::max(average_bytes(deviation_.means), average_bytes(deviation_.squares)) +
           view(max_input_extent(output, input), Arithmetic::f64) + 2 * view(output, Arithmetic::f64) +
           view(output, arithmetic);
  }

  void apply(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Worker& worker) const override {
    const Arena::Scope scope(worker);
    run(HostBackend{arithmetic, worker}, needed_of(*this, in, out), out);
  }

  void apply_reference(const ConstRegion& in, const Region& out, Arithmetic arithmetic) const override {
    run(ReferenceBackend{arithmetic}, in, out);
  }

  void enqueue(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Arena& arena,
               DeviceStream stream, const Epilogue& epilogue) const override {
    const Arena::Scope scope(arena);
    run(StreamBackend{arithmetic, arena, stream, epilogue.ops, out.pixels.data}, needed_of(*this, in, out),
        out);
  }

 private:
  /// Computed in f64, because the variance is a difference of two means.
  template <class Backend>
  void run(const Backend& backend, const ConstRegion& in, const Region& out) const {
    const Backend wide = backend.with_arithmetic(Arithmetic::f64);
    const Region means = allocate(wide, out), squares = allocate(wide, out),
                 deviations = allocate(backend, out);
    const Region squared{wide.allocate(in.rect.extent(), out.pixels.channels, PixelType::f64), in.rect,
                         in.image};
    wide.stage(*deviation_.means, in, means);
    wide.pointwise({.kind = Kind::product}, in.pixels, in.pixels, squared.pixels);
    wide.stage(*deviation_.squares, squared, squares);
    WindowMoments moments{.sums = means.pixels,
                          .squares = squares.pixels,
                          .least = deviation_.min_deviation,
                          .windows = deviation_.windows};
    moments.windows.in = in, moments.windows.out = out.rect, moments.windows.plane = plane_;
    if (deviation_.contrast) moments.pixels = in.crop(out.rect).pixels;
    wide.deviation(moments, deviations.pixels);
    backend.pointwise({.kind = Kind::copy}, deviations.pixels, deviations.pixels, out.pixels);
  }

  VolumeDeviation deviation_;
  Extent plane_;
};

}  // namespace

StagePtr make_volume_deviation(const StageDeclaration& declaration, const VolumeDeviation& deviation,
                               Extent plane) {
  return std::make_shared<VolumeDeviationStage>(declaration, deviation, plane);
}

}  // namespace sepconv
