// Minimum and maximum filters with rectangles and disks, applied in sequence, and differences with the input.
// Private to pipeline/stages.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "kernels/pointwise/missing.hpp"
#include "pipeline/stages/execution_backends.hpp"
#include "pipeline/stages/f32_range.hpp"
#include "pipeline/stages/neighbourhood.hpp"
#include "pipeline/stages/nodata_policy.hpp"

namespace sepconv {

/// A sequence of windows, and the result computed from the last one.
struct Morphology {
  enum class Result : std::uint8_t {
    last,             ///< the last window
    input_less_last,  ///< input - last
    last_less_input,  ///< last - input
  };
  std::vector<Window::Op> ops;
  Result result = Result::last;
};

inline constexpr Window::Op kErosion = Window::Op::minimum, kDilation = Window::Op::maximum;

class MorphologyStage final : public Stage {
 public:
  MorphologyStage(std::string text, Morphology morphology, Neighbourhood per_window, Window::Shape shape,
                  double value, std::optional<MissingPolicy> missing,
                  std::function<StagePtr(bool, bool)> remake)
      : Stage(traits_of(morphology, per_window, shape, value, missing)),
        text_(std::move(text)),
        morphology_(std::move(morphology)),
        per_window_(per_window),
        total_{static_cast<std::int64_t>(morphology_.ops.size()) * per_window.radius_x,
               static_cast<std::int64_t>(morphology_.ops.size()) * per_window.radius_y, per_window.border},
        shape_(shape),
        border_{per_window.border, value},
        missing_(missing),
        remake_(std::move(remake)) {}

  std::string text() const override { return text_; }
  StagePtr transposed() const override { return remake_(true, false); }
  StagePtr with_nodata() const override { return missing_ ? shared_from_this() : remake_(false, true); }
  Rect input_for(const Rect& output, const ImageSpec& input) const override {
    return total_.input_for(output, input.extent);
  }

  std::int64_t scratch_bytes(Scratch scratch, Extent output, const ImageSpec& input,
                             Arithmetic arithmetic) const override {
    const Extent image = per_window_.largest_image(input.extent);
    const Extent first = ops() == 1 ? output : per_window_.needed_extent(output, input.extent);
    const auto window_bytes = scratch == Scratch::host ? window_scratch_bytes : window_device_bytes;
    // Views: intermediate results between windows, an operand for the difference, and window results before
    // missing pixels are restored.
    const std::int64_t retained = missing_ == MissingPolicy::ignore ? 1 : 0;
    const std::int64_t output_views = retained + (morphology_.result == Morphology::Result::last ? 0 : 1);
    const auto views = [&](std::int64_t count, Extent extent) {
      return count * Arena::view_bytes(extent, input.channels, pixel_type_of(arithmetic));
    };
    return window_bytes(window_of(0), first, input.channels, arithmetic, image) +
           views(ops() > 1 ? 1 + retained : 0, first) + views(output_views, output);
  }

  ValueRange result_range(const ValueRange& input) const override {
    if (morphology_.result == Morphology::Result::last) return input;
    return {0, input.high - input.low};
  }

  void apply(const ConstRegion& source_region, const Region& result, Arithmetic arithmetic,
             Worker& worker) const override {
    const auto [in, out] = total_.as_separate_image(source_region, result);
    const Arena::Scope scope(worker);
    run(HostBackend{arithmetic, worker}, per_window_, in, out);
  }

  void enqueue(const ConstRegion& source_region, const Region& result, Arithmetic arithmetic, Arena& arena,
               DeviceStream stream, std::span<const PointwiseOp> epilogue_ops) const override {
    const auto [in, out] = total_.as_separate_image(source_region, result);
    const Arena::Scope scope(arena);
    run(DeviceBackend{arithmetic, arena, stream, epilogue_ops, out.pixels.data}, per_window_, in, out);
  }

  void apply_reference(const ConstRegion& in, const Region& out, Arithmetic arithmetic) const override {
    // Every window is computed for the whole image, which may repeat.
    const std::int64_t wrap_margin = border_.mode == BorderMode::wrap ? kMaxSide : 0;
    run(ReferenceBackend{arithmetic},
        {per_window_.radius_x + wrap_margin, per_window_.radius_y + wrap_margin, BorderMode::reflect}, in,
        out);
  }

 private:
  using Kind = PointwiseOp::Kind;

  static StageTraits traits_of(const Morphology& morphology, const Neighbourhood& per_window,
                               Window::Shape shape, double value, std::optional<MissingPolicy> missing) {
    const double passes = static_cast<double>(morphology.ops.size());
    const bool subtracts = morphology.result != Morphology::Result::last;
    StageTraits traits{.needs_f64 = any_beyond_f32(std::span(&value, 1)),
                       .runs_on_device = per_window.windows_on_device()};
    traits.operations_per_element = passes * (shape == Window::Shape::box ? per_window.window_operations()
                                                                          : per_window.disk_operations());
    traits.halo_work_in_columns = true;
    traits.streams_scratch = passes == 1 && !subtracts && shape == Window::Shape::box && !missing;
    traits.max_gain = std::max(1.0, std::abs(value)) * (subtracts ? 2 : 1);
    traits.handles_nodata = missing.has_value();
    traits.is_selection = !subtracts;
    traits.propagates_nodata =
        missing && !(missing == MissingPolicy::fill && per_window.border == BorderMode::constant);
    return traits;
  }

  std::size_t ops() const noexcept { return morphology_.ops.size(); }
  bool ignores_missing() const noexcept { return missing_ && *missing_ != MissingPolicy::propagate; }
  Window window_of(std::size_t i) const {
    return {.op = morphology_.ops[i],
            .radius_x = per_window_.radius_x,
            .radius_y = per_window_.radius_y,
            .shape = shape_,
            .ignores_nan = ignores_missing()};
  }

  /// A window yields input pixels or the border value, so the type can stay unless the border is constant.
  template <class Backend>
  PixelType intermediate_type(const Backend& backend, PixelType from) const {
    return border_.mode == BorderMode::constant && !is_floating(from) ? pixel_type_of(backend.arithmetic)
                                                                      : from;
  }

  /// One window. Missing pixels stay missing unless they are to be filled.
  template <class Backend>
  void run_window(const Backend& backend, std::size_t i, const ConstRegion& in, const Region& out) const {
    const bool keeps_missing = missing_ == MissingPolicy::ignore && is_floating(in.pixels.type);
    if (!keeps_missing) return backend.window(window_of(i), border_, in, out);
    const ConstPixelView middle = in.crop(out.rect).pixels;
    const PixelView values =
        backend.allocate(out.rect.extent(), out.pixels.channels, pixel_type_of(backend.arithmetic));
    backend.window(window_of(i), border_, in, {values, out.rect, out.image});
    backend.pointwise({.kind = Kind::keep_missing}, middle, values, out.pixels);
  }

  /// `halo` is the neighbourhood of one window.
  template <class Backend>
  void run(const Backend& backend, const Neighbourhood& halo, const ConstRegion& source,
           const Region& out) const {
    ConstRegion in = source;
    for (std::size_t i = 0; i + 1 < ops(); ++i) {
      const Rect needed = halo.input_for(out.rect, out.image);
      const Region result{
          backend.allocate(needed.extent(), out.pixels.channels, intermediate_type(backend, in.pixels.type)),
          needed, out.image};
      run_window(backend, i, in, result);
      in = result;
    }
    if (morphology_.result == Morphology::Result::last) return run_window(backend, ops() - 1, in, out);
    const PixelView last =
        backend.allocate(out.rect.extent(), out.pixels.channels, intermediate_type(backend, in.pixels.type));
    run_window(backend, ops() - 1, in, {last, out.rect, out.image});
    const ConstPixelView middle = source.crop(out.rect).pixels;
    const bool input_first = morphology_.result == Morphology::Result::input_less_last;
    backend.pointwise({.kind = Kind::difference, .propagates_nodata = missing_.has_value()},
                      input_first ? middle : last, input_first ? last : middle, out.pixels);
  }

  std::string text_;
  Morphology morphology_;
  Neighbourhood per_window_, total_;
  Window::Shape shape_;
  Border border_;
  std::optional<MissingPolicy> missing_;
  /// Creates the same stage for the transposed image, or with nodata=ignore.
  std::function<StagePtr(bool transposed, bool ignores)> remake_;
};

}  // namespace sepconv
