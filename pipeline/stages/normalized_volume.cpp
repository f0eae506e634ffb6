#include "pipeline/stages/normalized_volume.hpp"

#include <limits>

#include "kernels/pointwise/missing.hpp"
#include "pipeline/stages/execution_backends.hpp"

namespace sepconv {
namespace {

using Kind = PointwiseOp::Kind;

/// If no pixel is missing, the result equals `values` bit for bit, because every weight is the total.
class NormalizedVolume final : public Stage {
 public:
  NormalizedVolume(std::string text, const StageTraits& traits, NormalizedOnVolume passes)
      : Stage(traits), text_(std::move(text)), passes_(std::move(passes)) {}

  std::string text() const override { return text_; }
  std::int64_t tile_cols() const override { return passes_.values->tile_cols(); }
  ImageSpec output_spec(const ImageSpec& input) const override { return passes_.values->output_spec(input); }
  Rect input_for(const Rect& output, const ImageSpec& input) const override {
    return passes_.values->input_for(output, input);
  }
  Extent max_input_extent(Extent output, const ImageSpec& input) const override {
    return passes_.values->max_input_extent(output, input);
  }
  double operations_per_element(Scratch scratch, const ImageSpec& input) const override {
    return (has_weights() ? 2 : 1) * passes_.values->operations_per_element(scratch, input);
  }

  std::int64_t scratch_bytes(Scratch scratch, Extent output, const ImageSpec& input,
                             Arithmetic arithmetic) const override {
    const PixelType type = pixel_type_of(arithmetic);
    const auto view = [&](Extent extent) { return Arena::view_bytes(extent, input.channels, type); };
    const std::int64_t view_bytes =
        has_weights() ? view(max_input_extent(output, input)) + 2 * view(output) : view(output);
    return view_bytes + passes_.values->scratch_bytes(scratch, output, input, arithmetic);
  }

  void apply(const ConstRegion& source, const Region& out, Arithmetic arithmetic,
             Worker& worker) const override {
    const ConstRegion in = needed_of(*this, source, out);
    const HostBackend backend{arithmetic, worker};
    if (find_missing_state(in.pixels, std::numeric_limits<double>::quiet_NaN()) == MissingState::none_missing)
      return backend.stage(*passes_.values, in, out);
    const Arena::Scope scope(worker);
    run(backend, in, out);
  }

  void apply_reference(const ConstRegion& in, const Region& out, Arithmetic arithmetic) const override {
    run(ReferenceBackend{arithmetic}, in, out);
  }

  void enqueue(const ConstRegion& source, const Region& out, Arithmetic arithmetic, Arena& arena,
               DeviceStream stream, std::span<const PointwiseOp> epilogue_ops) const override {
    const ConstRegion in = needed_of(*this, source, out);
    const DeviceBackend backend{arithmetic, arena, stream, epilogue_ops, out.pixels.data};
    if (!is_floating(in.pixels.type)) return backend.stage(*passes_.values, in, out);
    const Arena::Scope scope(arena);
    run(backend, in, out);
  }

 private:
  bool has_weights() const noexcept { return passes_.weights.front() != nullptr; }

  template <class Backend>
  void run(const Backend& backend, const ConstRegion& in, const Region& out) const {
    const Region result = allocate(backend, out);
    if (has_weights()) {
      renormalise(backend, in, result, passes_.fills ? out.pixels : result.pixels);
    } else {
      backend.stage(*passes_.values, in, result);
    }
    if (!passes_.fills)
      backend.pointwise({.kind = Kind::keep_missing}, in.crop(out.rect).pixels, result.pixels, out.pixels);
  }

  /// Computes sums and then weights, reusing the memory of the masked input.
  template <class Backend>
  void renormalise(const Backend& backend, const ConstRegion& in, const Region& sums,
                   const PixelView& out) const {
    const auto i = static_cast<std::size_t>(backend.arithmetic);
    const Region masked{backend.allocate(in.rect.extent(), out.channels, sums.pixels.type), in.rect,
                        in.image};
    const Region weights = allocate(backend, sums);
    backend.pointwise({.kind = Kind::zero_missing}, in.pixels, in.pixels, masked.pixels);
    backend.stage(*passes_.values, masked, sums);
    backend.pointwise({.kind = Kind::weight}, in.pixels, in.pixels, masked.pixels);
    backend.stage(*passes_.weights[i], masked, weights);
    backend.pointwise({.kind = Kind::renormalise, .p = passes_.totals[i]}, sums.pixels, weights.pixels, out);
  }

  std::string text_;
  NormalizedOnVolume passes_;
};

}  // namespace

StagePtr make_normalized_volume(std::string text, const StageTraits& traits, NormalizedOnVolume passes) {
  return std::make_shared<NormalizedVolume>(std::move(text), traits, std::move(passes));
}

}  // namespace sepconv
