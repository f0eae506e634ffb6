// Least and greatest values of rectangles and disks, one after another, and what is taken of them. Private to
// pipeline/stages.
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

/// The windows that are taken one after another, and what is taken of which in the end.
struct Morphology {
  enum class Result : std::uint8_t {
    last,             ///< of the windows
    input_less_last,  ///< input - last
    last_less_input,  ///< last - input
  };
  std::vector<Window::Op> ops;
  Result result = Result::last;
};

inline constexpr Window::Op kErosion = Window::Op::minimum, kDilation = Window::Op::maximum;

class MorphologyStage final : public Stage {
 public:
  MorphologyStage(std::string text, Morphology morphology, Neighbourhood each, Window::Shape shape,
                  double value, std::optional<MissingPolicy> missing,
                  std::function<StagePtr(bool, bool)> again)
      : Stage(traits_of(morphology, each, shape, value, missing)),
        text_(std::move(text)),
        morphology_(std::move(morphology)),
        each_(each),
        all_{static_cast<std::int64_t>(morphology_.ops.size()) * each.radius_x,
             static_cast<std::int64_t>(morphology_.ops.size()) * each.radius_y, each.border},
        shape_(shape),
        border_{each.border, value},
        missing_(missing),
        again_(std::move(again)) {}

  std::string text() const override { return text_; }
  StagePtr transposed() const override { return again_(true, false); }
  StagePtr with_nodata() const override { return missing_ ? shared_from_this() : again_(false, true); }
  Rect input_for(const Rect& output, const ImageSpec& input) const override {
    return all_.input_for(output, input.extent);
  }

  std::int64_t scratch_bytes(Scratch scratch, Extent output, const ImageSpec& input,
                             Arithmetic arithmetic) const override {
    const Extent image = each_.largest_image(input.extent);
    const Extent first = ops() == 1 ? output : each_.needed_extent(output, input.extent);
    const auto window_bytes = scratch == Scratch::host ? window_scratch_bytes : window_device_bytes;
    // What waits between windows, what is taken of the input, and results whose missing pixels stay missing.
    const std::int64_t kept = missing_ == MissingPolicy::ignore ? 1 : 0;
    const std::int64_t of_output = kept + (morphology_.result == Morphology::Result::last ? 0 : 1);
    const auto views = [&](std::int64_t count, Extent extent) {
      return count * Arena::view_bytes(extent, input.channels, pixel_type_of(arithmetic));
    };
    return window_bytes(window_of(0), first, input.channels, arithmetic, image) +
           views(ops() > 1 ? 1 + kept : 0, first) + views(of_output, output);
  }

  ValueRange result_range(const ValueRange& input) const override {
    if (morphology_.result == Morphology::Result::last) return input;
    return {0, input.high - input.low};
  }

  void apply(const ConstRegion& given, const Region& result, Arithmetic arithmetic,
             Worker& worker) const override {
    const auto [in, out] = all_.as_own_image(given, result);
    const Arena::Scope scope(worker);
    run(HostBackend{arithmetic, worker}, each_, in, out);
  }

  void enqueue(const ConstRegion& given, const Region& result, Arithmetic arithmetic, Arena& arena,
               DeviceStream stream, std::span<const PointwiseOp> then) const override {
    const auto [in, out] = all_.as_own_image(given, result);
    const Arena::Scope scope(arena);
    run(DeviceBackend{arithmetic, arena, stream, then, out.pixels.data}, each_, in, out);
  }

  void apply_reference(const ConstRegion& in, const Region& out, Arithmetic arithmetic) const override {
    // For the whole image, which may repeat.
    const std::int64_t far = border_.mode == BorderMode::wrap ? kMaxSide : 0;
    run(ReferenceBackend{arithmetic}, {each_.radius_x + far, each_.radius_y + far, BorderMode::reflect}, in,
        out);
  }

 private:
  using Kind = PointwiseOp::Kind;

  static StageTraits traits_of(const Morphology& morphology, const Neighbourhood& each, Window::Shape shape,
                               double value, std::optional<MissingPolicy> missing) {
    const double passes = static_cast<double>(morphology.ops.size());
    const bool subtracts = morphology.result != Morphology::Result::last;
    StageTraits traits{.needs_f64 = any_beyond_f32(std::span(&value, 1)),
                       .runs_on_device = each.windows_on_device()};
    traits.operations_per_element =
        passes * (shape == Window::Shape::box ? each.window_operations() : each.disk_operations());
    traits.halo_work_in_columns = true;
    traits.streams_scratch = passes == 1 && !subtracts && shape == Window::Shape::box && !missing;
    traits.growth = std::max(1.0, std::abs(value)) * (subtracts ? 2 : 1);
    traits.handles_nodata = missing.has_value();
    traits.selects = !subtracts;
    traits.propagates_nodata =
        missing && !(missing == MissingPolicy::fill && each.border == BorderMode::constant);
    return traits;
  }

  std::size_t ops() const noexcept { return morphology_.ops.size(); }
  bool ignores() const noexcept { return missing_ && *missing_ != MissingPolicy::propagate; }
  Window window_of(std::size_t i) const {
    return {.op = morphology_.ops[i],
            .radius_x = each_.radius_x,
            .radius_y = each_.radius_y,
            .shape = shape_,
            .ignores_nan = ignores()};
  }

  /// What a window makes of pixels are pixels, or the border's value.
  template <class Backend>
  PixelType between(const Backend& way, PixelType from) const {
    return border_.mode == BorderMode::constant && !is_floating(from) ? pixel_type_of(way.arithmetic) : from;
  }

  /// One window; what is missing stays so, unless it is to be filled.
  template <class Backend>
  void run_window(const Backend& way, std::size_t i, const ConstRegion& in, const Region& out) const {
    const bool keeps = missing_ == MissingPolicy::ignore && is_floating(in.pixels.type);
    if (!keeps) return way.window(window_of(i), border_, in, out);
    const ConstPixelView middle = in.crop(out.rect).pixels;
    const PixelView values =
        way.allocate(out.rect.extent(), out.pixels.channels, pixel_type_of(way.arithmetic));
    way.window(window_of(i), border_, in, {values, out.rect, out.image});
    way.pointwise({.kind = Kind::keep_missing}, middle, values, out.pixels);
  }

  /// `near` is what one window needs around what is to be made.
  template <class Backend>
  void run(const Backend& way, const Neighbourhood& near, const ConstRegion& source,
           const Region& out) const {
    ConstRegion in = source;
    for (std::size_t i = 0; i + 1 < ops(); ++i) {
      const Rect needed = near.input_for(out.rect, out.image);
      const Region made{way.allocate(needed.extent(), out.pixels.channels, between(way, in.pixels.type)),
                        needed, out.image};
      run_window(way, i, in, made);
      in = made;
    }
    if (morphology_.result == Morphology::Result::last) return run_window(way, ops() - 1, in, out);
    const PixelView last = way.allocate(out.rect.extent(), out.pixels.channels, between(way, in.pixels.type));
    run_window(way, ops() - 1, in, {last, out.rect, out.image});
    const ConstPixelView middle = source.crop(out.rect).pixels;
    const bool input_first = morphology_.result == Morphology::Result::input_less_last;
    way.pointwise({.kind = Kind::difference, .propagates_nodata = missing_.has_value()},
                  input_first ? middle : last, input_first ? last : middle, out.pixels);
  }

  std::string text_;
  Morphology morphology_;
  Neighbourhood each_, all_;
  Window::Shape shape_;
  Border border_;
  std::optional<MissingPolicy> missing_;
  /// The same stage of the transposed image, and with nodata=ignore.
  std::function<StagePtr(bool transposed, bool ignores)> again_;
};

}  // namespace sepconv
