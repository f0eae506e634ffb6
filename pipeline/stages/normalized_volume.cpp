#include "pipeline/stages/normalized_volume.hpp"

#include <limits>

#include "kernels/pointwise/missing.hpp"
#include "pipeline/stages/execution_backends.hpp"

namespace sepconv {
namespace {

using Kind = PointwiseOp::Kind;

/// Where nothing is missing the values are the result, with the same bits: no weight is less than the total.
class NormalizedVolume final : public Stage {
 public:
  NormalizedVolume(std::string text, const StageTraits& traits, NormalizedOnVolume present)
      : Stage(traits), text_(std::move(text)), is_(std::move(present)) {}

  std::string text() const override { return text_; }
  std::int64_t tile_cols() const override { return is_.values->tile_cols(); }
  ImageSpec output_spec(const ImageSpec& input) const override { return is_.values->output_spec(input); }
  Rect input_for(const Rect& output, const ImageSpec& input) const override {
    return is_.values->input_for(output, input);
  }
  Extent max_input_extent(Extent output, const ImageSpec& input) const override {
    return is_.values->max_input_extent(output, input);
  }
  double operations_per_element(Scratch scratch, const ImageSpec& input) const override {
    return (has_weights() ? 2 : 1) * is_.values->operations_per_element(scratch, input);
  }

  std::int64_t scratch_bytes(Scratch scratch, Extent output, const ImageSpec& input,
                             Arithmetic arithmetic) const override {
    const PixelType type = pixel_type_of(arithmetic);
    const auto view = [&](Extent extent) { return Arena::view_bytes(extent, input.channels, type); };
    const std::int64_t own =
        has_weights() ? view(max_input_extent(output, input)) + 2 * view(output) : view(output);
    return own + is_.values->scratch_bytes(scratch, output, input, arithmetic);
  }

  void apply(const ConstRegion& given, const Region& out, Arithmetic arithmetic,
             Worker& worker) const override {
    const ConstRegion in = needed_of(*this, given, out);
    const HostBackend way{arithmetic, worker};
    if (presence_of(in.pixels, std::numeric_limits<double>::quiet_NaN()) == ValidMask::all_there)
      return way.stage(*is_.values, in, out);
    const Arena::Scope scope(worker);
    run(way, in, out);
  }

  void apply_reference(const ConstRegion& in, const Region& out, Arithmetic arithmetic) const override {
    run(ReferenceBackend{arithmetic}, in, out);
  }

  void enqueue(const ConstRegion& given, const Region& out, Arithmetic arithmetic, Arena& arena,
               DeviceStream stream, std::span<const PointwiseOp> then) const override {
    const ConstRegion in = needed_of(*this, given, out);
    const DeviceBackend way{arithmetic, arena, stream, then, out.pixels.data};
    if (!is_floating(in.pixels.type)) return way.stage(*is_.values, in, out);
    const Arena::Scope scope(arena);
    run(way, in, out);
  }

 private:
  bool has_weights() const noexcept { return is_.weights.front() != nullptr; }

  template <class Backend>
  void run(const Backend& way, const ConstRegion& in, const Region& out) const {
    const Region made = allocate(way, out);
    if (has_weights()) {
      renormalise(way, in, made, is_.fills ? out.pixels : made.pixels);
    } else {
      way.stage(*is_.values, in, made);
    }
    if (!is_.fills)
      way.pointwise({.kind = Kind::keep_missing}, in.crop(out.rect).pixels, made.pixels, out.pixels);
  }

  /// Sums and then weights of the same pixels, in the same memory.
  template <class Backend>
  void renormalise(const Backend& way, const ConstRegion& in, const Region& sums,
                   const PixelView& out) const {
    const auto i = static_cast<std::size_t>(way.arithmetic);
    const Region there{way.allocate(in.rect.extent(), out.channels, sums.pixels.type), in.rect, in.image};
    const Region weights = allocate(way, sums);
    way.pointwise({.kind = Kind::zero_missing}, in.pixels, in.pixels, there.pixels);
    way.stage(*is_.values, there, sums);
    way.pointwise({.kind = Kind::weight}, in.pixels, in.pixels, there.pixels);
    way.stage(*is_.weights[i], there, weights);
    way.pointwise({.kind = Kind::renormalise, .p = is_.totals[i]}, sums.pixels, weights.pixels, out);
  }

  std::string text_;
  NormalizedOnVolume is_;
};

}  // namespace

StagePtr make_normalized_volume(std::string text, const StageTraits& traits, NormalizedOnVolume present) {
  return std::make_shared<NormalizedVolume>(std::move(text), traits, std::move(present));
}

}  // namespace sepconv
