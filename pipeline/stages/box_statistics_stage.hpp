// Mean, standard deviation and local contrast in a rectangular window. Private to pipeline/stages.
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
#include "pipeline/stages/stage_text.hpp"

namespace sepconv {

/// The statistic that a stage computes.
enum class Moment : std::uint8_t {
  mean,
  deviation,
  contrast,  ///< (pixel - mean) / deviation
};

/// Range of results for input values in `input` and windows of this many pixels.
inline ValueRange range_of_moment(Moment moment, const ValueRange& input, double pixels) {
  if (moment == Moment::mean) return input;
  if (moment == Moment::deviation) return {0, (input.high - input.low) / 2};
  return {-std::sqrt(pixels), std::sqrt(pixels)};
}

struct MomentsOptions {
  Moment moment = Moment::mean;
  Neighbourhood neighbourhood{};
  double value = 0;          ///< value of a constant border
  double min_deviation = 0;  ///< lower bound of the deviation, for contrast
  std::optional<MissingPolicy> nodata{};
  bool columns_first = false;
};

/// A deviation is always computed in f64, because its square is the difference of two sums.
class MomentsStage final : public Stage {
 public:
  MomentsStage(std::string text, const MomentsOptions& options, std::function<StagePtr()> make_ignoring)
      : Stage(declaration_of(std::move(text), options)),
        options_(options),
        border_{options.neighbourhood.border, options.value},
        make_ignoring_(std::move(make_ignoring)) {}

  /// A stage created by transposed() ends with " (columns first)"; that text cannot be parsed.
  StagePtr transposed() const override {
    MomentsOptions transposed_options = options_;
    std::swap(transposed_options.neighbourhood.radius_x, transposed_options.neighbourhood.radius_y);
    transposed_options.columns_first = !options_.columns_first;
    return std::make_shared<MomentsStage>(
        toggle_suffix(text(), " (columns first)"), transposed_options,
        [make_ignoring = make_ignoring_] { return make_ignoring()->transposed(); });
  }
  StagePtr with_nodata() const override { return options_.nodata ? shared_from_this() : make_ignoring_(); }
  ValueRange result_range(const ValueRange& input) const override {
    const double pixels = static_cast<double>(2 * options_.neighbourhood.radius_x + 1) *
                          static_cast<double>(2 * options_.neighbourhood.radius_y + 1);
    return range_of_moment(options_.moment, input, pixels);
  }
  Rect input_for(const Rect& output, const ImageSpec& input) const override {
    return options_.neighbourhood.input_for(output, input.extent);
  }

  std::int64_t scratch_bytes(Scratch scratch, Extent output, const ImageSpec& input,
                             Arithmetic arithmetic) const override {
    const Extent image = options_.neighbourhood.largest_image(input.extent);
    const Arithmetic wide = arithmetic_of(arithmetic);
    const auto window_bytes = scratch == Scratch::host ? window_scratch_bytes : window_device_bytes;
    const bool plain = options_.moment == Moment::mean && !ignores_missing();
    // Views for sums of values and of squares, and for counts of valid pixels; a mean over valid pixels needs
    // the count and the sum.
    const std::int64_t moments = options_.moment == Moment::mean ? 1 : 2;
    const std::int64_t views = moments == 1 ? (ignores_missing() ? 2 : 0) : (ignores_missing() ? 3 : 2);
    const std::int64_t result_bytes =
        plain ? 0 : Arena::view_bytes(output, input.channels, pixel_type_of(arithmetic));
    const std::int64_t bytes =
        result_bytes +
        window_bytes(window(Window::Of::values, true, wide), output, input.channels, wide, image) +
        views * Arena::view_bytes(output, input.channels, pixel_type_of(wide));
    if (scratch == Scratch::device || moments == 1 || !supports_window_deviation(border_)) return bytes;
    const std::int64_t walked =
        result_bytes +
        window_deviation_scratch_bytes(window(Window::Of::squares, false, wide), output, input.channels);
    return ignores_missing() ? std::max(bytes, walked) : walked;
  }

  void apply(const ConstRegion& source, const Region& result, Arithmetic arithmetic,
             Worker& worker) const override {
    const auto [in, out] = options_.neighbourhood.as_separate_image(source, result);
    const Arena::Scope scope(worker);
    const bool none_missing =
        !ignores_missing() ||
        find_missing_state(in.crop(options_.neighbourhood.needed_of(in, out.rect)).pixels,
                           std::numeric_limits<double>::quiet_NaN()) == MissingState::none_missing;
    run(HostBackend{arithmetic, worker}, !none_missing, in, out);
  }

  void apply_reference(const ConstRegion& in, const Region& out, Arithmetic arithmetic) const override {
    run(ReferenceBackend{arithmetic}, ignores_missing(), in, out);
  }

  void enqueue(const ConstRegion& source, const Region& result, Arithmetic arithmetic, Arena& arena,
               DeviceStream stream, const Epilogue& epilogue) const override {
    const auto [in, out] = options_.neighbourhood.as_separate_image(source, result);
    const Arena::Scope scope(arena);
    run(StreamBackend{arithmetic, arena, stream, epilogue.ops, out.pixels.data},
        ignores_missing() && is_floating(in.pixels.type), in, out);
  }

 private:
  using Kind = PointwiseOp::Kind;

  static StageDeclaration declaration_of(std::string text, const MomentsOptions& options) {
    const bool is_mean = options.moment == Moment::mean;
    const bool adds_constant = options.neighbourhood.border == BorderMode::constant && options.value != 0;
    const double values[] = {options.value, options.min_deviation};
    StageDeclaration declaration{.text = std::move(text),
                                 .properties = {.is_complex_linear = is_mean && !adds_constant,
                                                .needs_f64 = any_beyond_f32(values),
                                                .runs_on_device = options.neighbourhood.windows_on_device(),
                                                .device_kernels = DeviceKernels::windows}};
    declaration.traits.work.operations_per_element =
        (is_mean ? 1 : 10) * options.neighbourhood.window_operations();
    declaration.traits.work.halo_in_columns = true;
    declaration.properties.streams_scratch = is_mean && !options.nodata;
    if (options.moment != Moment::contrast)
      declaration.traits.nan.max_gain = 2 * std::max(1.0, adds_constant ? std::abs(options.value) : 1);
    declaration.properties.handles_nodata = options.nodata.has_value();
    declaration.properties.is_average = is_mean;
    if (!is_mean) declaration.properties.device_kernels |= DeviceKernels::deviations;
    declaration.traits.nan.propagates =
        options.nodata &&
        !(options.nodata == MissingPolicy::fill && options.neighbourhood.border == BorderMode::constant);
    return declaration;
  }

  bool ignores_missing() const noexcept {
    return options_.nodata && *options_.nodata != MissingPolicy::propagate;
  }
  Arithmetic arithmetic_of(Arithmetic arithmetic) const noexcept {
    return options_.moment == Moment::mean ? arithmetic : Arithmetic::f64;
  }

  /// Scale of the sums. For a mean it keeps them below the largest f32, as the mean is. A power of two
  /// changes no bits, except of values near that limit or near 0. Deviations are computed in f64 and need no
  /// scale.
  double unit() const noexcept {
    const auto pixels = static_cast<double>((2 * options_.neighbourhood.radius_x + 1) *
                                            (2 * options_.neighbourhood.radius_y + 1));
    return options_.moment == Moment::mean ? std::exp2(-std::ceil(std::log2(pixels))) : 1;
  }

  /// A window of sums. For a mean they are divided by the number of pixels, unless valid pixels are counted.
  Window window(Window::Of of, bool counts_valid, Arithmetic arithmetic) const {
    Window window{.op = Window::Op::sum,
                  .radius_x = options_.neighbourhood.radius_x,
                  .radius_y = options_.neighbourhood.radius_y,
                  .ignores_nan = counts_valid,
                  .of = of,
                  .unit = unit(),
                  .columns_first = options_.columns_first};
    if (!counts_valid && options_.moment == Moment::mean)
      window.divisor = window_ones_sum(window, arithmetic);
    return window;
  }

  /// Means in the arithmetic of the backend: sums divided by the number of pixels, or by `valid_counts`
  /// unless null.
  template <class Backend>
  void mean(const Backend& backend, const PixelView* valid_counts, const ConstRegion& in,
            const Region& out) const {
    if (valid_counts == nullptr)
      return backend.window(window(Window::Of::values, false, backend.arithmetic), border_, in, out);
    const PixelView sums = allocate(backend, out).pixels;
    backend.window(window(Window::Of::values, true, backend.arithmetic), border_, in,
                   {sums, out.rect, out.image});
    backend.pointwise({.kind = Kind::quotient}, sums, *valid_counts, out.pixels);
  }

  template <class Backend>
  void run(const Backend& backend, bool counts_valid, const ConstRegion& in, const Region& out) const {
    const Backend wide = backend.with_arithmetic(arithmetic_of(backend.arithmetic));
    PixelView valid_counts;
    if (counts_valid) {
      valid_counts = allocate(wide, out).pixels;
      wide.window(window(Window::Of::ones, true, wide.arithmetic), border_, in,
                  {valid_counts, out.rect, out.image});
    }
    const PixelView* const weights = counts_valid ? &valid_counts : nullptr;
    const bool keeps_missing = counts_valid && options_.nodata == MissingPolicy::ignore;
    if (options_.moment == Moment::mean && !keeps_missing) return mean(backend, weights, in, out);
    const PixelView result = allocate(backend, out).pixels;
    options_.moment == Moment::mean ? mean(backend, weights, in, {result, out.rect, out.image})
                                    : deviate(wide, weights, in, {result, out.rect, out.image});
    backend.pointwise({.kind = keeps_missing ? Kind::keep_missing : Kind::copy},
                      keeps_missing ? in.crop(out.rect).pixels : result, result, out.pixels);
  }

  /// Deviations or the contrast; `wide` computes in f64.
  template <class Backend>
  void deviate(const Backend& wide, const PixelView* valid_counts, const ConstRegion& in,
               const Region& out) const {
    if constexpr (std::is_same_v<Backend, HostBackend>) {
      if (valid_counts == nullptr && supports_window_deviation(border_))
        return window_deviation_host(
            window(Window::Of::squares, false, Arithmetic::f64),
            options_.moment == Moment::contrast ? std::optional(options_.min_deviation) : std::nullopt,
            border_, in, out, wide.worker);
    }
    const bool counts_valid = valid_counts != nullptr;
    const PixelView sums = allocate(wide, out).pixels, squares = allocate(wide, out).pixels;
    const Window values = window(Window::Of::values, counts_valid, Arithmetic::f64);
    wide.window(values, border_, in, {sums, out.rect, out.image});
    wide.window(window(Window::Of::squares, counts_valid, Arithmetic::f64), border_, in,
                {squares, out.rect, out.image});
    WindowMoments moments{.sums = sums,
                          .squares = squares,
                          .count = window_ones_sum(values, Arithmetic::f64),
                          .least = options_.min_deviation};
    if (counts_valid) moments.counts = *valid_counts;
    if (!moments_are_exact(values, border_, in.pixels.type))
      moments.windows = {.in = in,
                         .border = border_,
                         .out = out.rect,
                         .radius_x = options_.neighbourhood.radius_x,
                         .radius_y = options_.neighbourhood.radius_y,
                         .columns_first = options_.columns_first,
                         .ignores_nan = counts_valid};
    if (options_.moment == Moment::contrast) moments.pixels = in.crop(out.rect).pixels;
    wide.deviation(moments, out.pixels);
  }

  MomentsOptions options_;
  Border border_;
  std::function<StagePtr()> make_ignoring_;  ///< the same stage with nodata=ignore
};

}  // namespace sepconv
