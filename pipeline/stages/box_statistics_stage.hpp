// The mean and the deviation of a rectangle's pixels, and what is made of them. Private to
// pipeline/stages.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "kernels/pointwise/missing.hpp"
#include "pipeline/stages/execution_backends.hpp"
#include "pipeline/stages/f32_range.hpp"
#include "pipeline/stages/neighbourhood.hpp"
#include "pipeline/stages/nodata_policy.hpp"

namespace sepconv {

enum class Moment : std::uint8_t {
  mean,
  deviation,
  contrast,  ///< (pixel - mean) / deviation
};

/// For windows of this many pixels.
inline ValueRange range_of_moment(Moment moment, const ValueRange& input, double pixels) {
  if (moment == Moment::mean) return input;
  if (moment == Moment::deviation) return {0, (input.high - input.low) / 2};
  return {-std::sqrt(pixels), std::sqrt(pixels)};
}

struct MomentsOptions {
  Moment moment = Moment::mean;
  Neighbourhood near{};
  double value = 0;  ///< of a constant border
  double least = 0;  ///< of contrast: a smaller deviation counts as this
  std::optional<MissingPolicy> nodata{};
  bool columns_first = false;
};

/// A deviation is computed in f64 whatever the image: its square is the difference of two sums.
class MomentsStage final : public Stage {
 public:
  MomentsStage(std::string text, const MomentsOptions& options, std::function<StagePtr()> ignoring)
      : Stage(traits_of(options)),
        text_(std::move(text)),
        is_(options),
        border_{options.near.border, options.value},
        ignoring_(std::move(ignoring)) {}

  /// With " (columns first)" at the end where that is so, which no text can ask for: it is what transposed()
  /// makes.
  std::string text() const override { return is_.columns_first ? text_ + " (columns first)" : text_; }
  StagePtr transposed() const override {
    MomentsOptions turned = is_;
    std::swap(turned.near.radius_x, turned.near.radius_y);
    turned.columns_first = !is_.columns_first;
    return std::make_shared<MomentsStage>(text_, turned,
                                          [ignoring = ignoring_] { return ignoring()->transposed(); });
  }
  StagePtr with_nodata() const override { return is_.nodata ? shared_from_this() : ignoring_(); }
  ValueRange result_range(const ValueRange& input) const override {
    const double pixels =
        static_cast<double>(2 * is_.near.radius_x + 1) * static_cast<double>(2 * is_.near.radius_y + 1);
    return range_of_moment(is_.moment, input, pixels);
  }
  Rect input_for(const Rect& output, const ImageSpec& input) const override {
    return is_.near.input_for(output, input.extent);
  }

  std::int64_t scratch_bytes(Scratch scratch, Extent output, const ImageSpec& input,
                             Arithmetic arithmetic) const override {
    const Extent image = is_.near.largest_image(input.extent);
    const Arithmetic wide = arithmetic_of(arithmetic);
    const auto window_bytes = scratch == Scratch::host ? window_scratch_bytes : window_device_bytes;
    const bool plain = is_.moment == Moment::mean && !renormalises();
    // Sums of values and of squares; and of valid pixels how much that is, and for a mean the sum.
    const std::int64_t moments = is_.moment == Moment::mean ? 1 : 2;
    const std::int64_t views = moments == 1 ? (renormalises() ? 2 : 0) : (renormalises() ? 3 : 2);
    const std::int64_t made =
        plain ? 0 : Arena::view_bytes(output, input.channels, pixel_type_of(arithmetic));
    const std::int64_t bytes =
        made + window_bytes(window(Window::Of::values, true, wide), output, input.channels, wide, image) +
        views * Arena::view_bytes(output, input.channels, pixel_type_of(wide));
    if (scratch == Scratch::device || moments == 1 || !walks_moments(border_)) return bytes;
    const std::int64_t walked = made + window_deviation_scratch_bytes(
                                           window(Window::Of::squares, false, wide), output, input.channels);
    return renormalises() ? std::max(bytes, walked) : walked;
  }

  void apply(const ConstRegion& given, const Region& result, Arithmetic arithmetic,
             Worker& worker) const override {
    const auto [in, out] = is_.near.as_own_image(given, result);
    const Arena::Scope scope(worker);
    const bool all_there =
        !renormalises() || presence_of(in.crop(is_.near.needed_of(in, out.rect)).pixels,
                                       std::numeric_limits<double>::quiet_NaN()) == ValidMask::all_there;
    run(HostBackend{arithmetic, worker}, !all_there, in, out);
  }

  void apply_reference(const ConstRegion& in, const Region& out, Arithmetic arithmetic) const override {
    run(ReferenceBackend{arithmetic}, renormalises(), in, out);
  }

  void enqueue(const ConstRegion& given, const Region& result, Arithmetic arithmetic, Arena& arena,
               DeviceStream stream, std::span<const PointwiseOp> then) const override {
    const auto [in, out] = is_.near.as_own_image(given, result);
    const Arena::Scope scope(arena);
    run(DeviceBackend{arithmetic, arena, stream, then, out.pixels.data},
        renormalises() && is_floating(in.pixels.type), in, out);
  }

 private:
  using Kind = PointwiseOp::Kind;

  static StageTraits traits_of(const MomentsOptions& options) {
    const bool is_mean = options.moment == Moment::mean;
    const bool adds = options.near.border == BorderMode::constant && options.value != 0;
    const double values[] = {options.value, options.least};
    StageTraits traits{.is_complex_linear = is_mean && !adds,
                       .needs_f64 = any_beyond_f32(values),
                       .runs_on_device = options.near.windows_on_device()};
    traits.operations_per_element = (is_mean ? 1 : 4) * options.near.window_operations();
    traits.halo_work_in_columns = true;
    traits.streams_scratch = is_mean && !options.nodata;
    if (options.moment != Moment::contrast)
      traits.growth = 2 * std::max(1.0, adds ? std::abs(options.value) : 1);
    traits.handles_nodata = options.nodata.has_value();
    traits.averages = is_mean;
    traits.propagates_nodata = options.nodata && !(options.nodata == MissingPolicy::fill &&
                                                   options.near.border == BorderMode::constant);
    return traits;
  }

  bool renormalises() const noexcept { return is_.nodata && *is_.nodata != MissingPolicy::propagate; }
  Arithmetic arithmetic_of(Arithmetic arithmetic) const noexcept {
    return is_.moment == Moment::mean ? arithmetic : Arithmetic::f64;
  }

  /// Sums for a mean stay below the largest number of f32, as the mean does. A power of two changes no bit of
  /// what is neither that large nor next to 0. Deviations are made in f64.
  double unit() const noexcept {
    const auto pixels = static_cast<double>((2 * is_.near.radius_x + 1) * (2 * is_.near.radius_y + 1));
    return is_.moment == Moment::mean ? std::exp2(-std::ceil(std::log2(pixels))) : 1;
  }

  /// Sums; for a mean divided by the number of pixels unless those that are there are to be counted.
  Window window(Window::Of of, bool counts, Arithmetic arithmetic) const {
    Window window{.op = Window::Op::sum,
                  .radius_x = is_.near.radius_x,
                  .radius_y = is_.near.radius_y,
                  .ignores_nan = counts,
                  .of = of,
                  .unit = unit(),
                  .columns_first = is_.columns_first};
    if (!counts && is_.moment == Moment::mean) window.divisor = ones_of_window(window, arithmetic);
    return window;
  }

  /// Means, in the way's arithmetic: over the number of pixels, or of those in `there`.
  template <class Backend>
  void mean(const Backend& way, const PixelView* there, const ConstRegion& in, const Region& out) const {
    if (there == nullptr)
      return way.window(window(Window::Of::values, false, way.arithmetic), border_, in, out);
    const PixelView sums = allocate(way, out).pixels;
    way.window(window(Window::Of::values, true, way.arithmetic), border_, in, {sums, out.rect, out.image});
    way.pointwise({.kind = Kind::quotient}, sums, *there, out.pixels);
  }

  template <class Backend>
  void run(const Backend& way, bool counts, const ConstRegion& in, const Region& out) const {
    const Backend wide = way.in(arithmetic_of(way.arithmetic));
    PixelView there;
    if (counts) {
      there = allocate(wide, out).pixels;
      wide.window(window(Window::Of::ones, true, wide.arithmetic), border_, in, {there, out.rect, out.image});
    }
    const PixelView* const weights = counts ? &there : nullptr;
    const bool keeps = counts && is_.nodata == MissingPolicy::ignore;
    if (is_.moment == Moment::mean && !keeps) return mean(way, weights, in, out);
    const PixelView made = allocate(way, out).pixels;
    is_.moment == Moment::mean ? mean(way, weights, in, {made, out.rect, out.image})
                               : deviate(wide, weights, in, {made, out.rect, out.image});
    way.pointwise({.kind = keeps ? Kind::keep_missing : Kind::copy}, keeps ? in.crop(out.rect).pixels : made,
                  made, out.pixels);
  }

  /// Deviations, or the contrast; `wide` is in f64.
  template <class Backend>
  void deviate(const Backend& wide, const PixelView* there, const ConstRegion& in, const Region& out) const {
    if constexpr (std::is_same_v<Backend, HostBackend>) {
      if (there == nullptr && walks_moments(border_))
        return window_deviation_host(window(Window::Of::squares, false, Arithmetic::f64),
                                     is_.moment == Moment::contrast ? std::optional(is_.least) : std::nullopt,
                                     border_, in, out, wide.worker);
    }
    const bool counts = there != nullptr;
    const PixelView sums = allocate(wide, out).pixels, squares = allocate(wide, out).pixels;
    const Window values = window(Window::Of::values, counts, Arithmetic::f64);
    wide.window(values, border_, in, {sums, out.rect, out.image});
    wide.window(window(Window::Of::squares, counts, Arithmetic::f64), border_, in,
                {squares, out.rect, out.image});
    WindowMoments moments{.sums = sums,
                          .squares = squares,
                          .count = ones_of_window(values, Arithmetic::f64),
                          .least = is_.least};
    if (counts) moments.counts = *there;
    if (!moments_are_exact(values, border_, in.pixels.type))
      moments.windows = {.in = in,
                         .border = border_,
                         .out = out.rect,
                         .radius_x = is_.near.radius_x,
                         .radius_y = is_.near.radius_y,
                         .columns_first = is_.columns_first,
                         .ignores_nan = counts};
    if (is_.moment == Moment::contrast) moments.pixels = in.crop(out.rect).pixels;
    wide.deviation(moments, out.pixels);
  }

  std::string text_;
  MomentsOptions is_;
  Border border_;
  std::function<StagePtr()> ignoring_;  ///< the same stage with nodata=ignore
};

}  // namespace sepconv
