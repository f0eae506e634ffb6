// Standard deviation of each pixel's window, and the z-score of the pixel in it, from the sums of x and of
// x^2. Where the sums have too few digits the deviation is computed from the pixels. docs/maths.md has the
// formulas.
#pragma once

#include <optional>

#include "core/image.hpp"
#include "core/worker.hpp"
#include "kernels/conv/border.hpp"
#include "kernels/device/runtime.hpp"
#include "kernels/sliding_window/deviation_formulas.hpp"
#include "kernels/sliding_window/window.hpp"

namespace sepconv {

/// Input of the deviation functions: views of equal extent and channels.
struct WindowMoments {
  ConstPixelView sums, squares;  ///< f64: sums of values, and of their squares
  ConstPixelView counts{};       ///< f64: number of values in each sum; empty: `count` for all
  double count = 1;
  /// With pixels (any type) the result is (pixel - mean) / max(deviation, least), where 0 / 0 is 0; without,
  /// the deviation.
  ConstPixelView pixels{};
  double least = 0;
  /// The windows that were summed, to recompute imprecise results. Not needed if moments_are_exact().
  SpreadWindows windows{};

  bool has_windows() const noexcept { return windows.in.pixels.data != nullptr; }
};

/// Whether sums of values and squares of these pixels are whole numbers that f64 can represent.
bool moments_are_exact(const Window& window, const Border& border, PixelType type);

/// Computes deviations or z-scores in f64, by the formulas of spread.hpp. A count of 0 gives NaN. `out` is
/// f32 or f64, and may be one of the f64 views. Throws InvalidArgument for views that do not fit.
void deviation_reference(const WindowMoments& moments, const PixelView& out);
/// Same bits as deviation_reference, but fast.
void deviation_host(const WindowMoments& moments, const PixelView& out);
/// Same bits on the current device. Enqueues on `stream` and returns immediately. Views are device
/// memory that must stay valid until the stream has completed the work. Throws InvalidArgument and DeviceError.
void deviation_device(const WindowMoments& moments, const PixelView& out, DeviceStream stream);

/// window_host and deviation_host in one pass without intermediate images of sums, with the same bits; with
/// `least` the contrast of the pixels of `in`. `window` is the one of squares and does not ignore NaN. Shapes
/// as for window_host; `out` is f32 or f64.
void window_deviation_host(const Window& window, std::optional<double> least, const Border& border,
                           const ConstRegion& in, const Region& out, Worker& worker);
/// Whether window_deviation_host supports the border: it is not constant, or its constant is 0.
bool supports_window_deviation(const Border& border);
/// Upper bound of the arena bytes for outputs up to this extent.
std::int64_t window_deviation_scratch_bytes(const Window& window, Extent out, std::int64_t channels);

}  // namespace sepconv
