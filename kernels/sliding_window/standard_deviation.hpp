// Standard deviation of each pixel's window, and the z-score of the pixel in it, from the sums of x and of
// x^2. Where the sums have too few digits the deviation is computed from the pixels. docs/maths.md has the
// formulas.
#pragma once

#include <optional>

#include "core/image.hpp"
#include "core/worker.hpp"
#include "kernels/conv/border.hpp"
#include "kernels/cuda/runtime.hpp"
#include "kernels/sliding_window/spread.hpp"
#include "kernels/sliding_window/window.hpp"

namespace sepconv {

/// What deviations are made of: views of one extent and as many channels.
struct WindowMoments {
  ConstPixelView sums, squares;  ///< f64: sums of values, and of their squares
  ConstPixelView counts{};       ///< f64: of how many they are; without, all of this many:
  double count = 1;
  /// With pixels (any type) the result is (pixel - mean) / max(deviation, least), 0 over 0 being 0; without,
  /// the deviation.
  ConstPixelView pixels{};
  double least = 0;
  /// What the sums are of. Without, as where moments_are_exact(), the sums alone tell.
  SpreadWindows windows{};

  bool has_windows() const noexcept { return windows.in.pixels.data != nullptr; }
};

/// Whether sums of values and squares of these pixels are whole numbers that f64 has.
bool moments_are_exact(const Window& window, const Border& border, PixelType type);

/// In f64, as spread.hpp has it; of no pixels the result is NaN. `out` is of f32 or f64, and may be one of
/// the views that are f64. Throws InvalidArgument for views that do not fit.
void deviation_reference(const WindowMoments& moments, const PixelView& out);
/// The same bits, fast.
void deviation_host(const WindowMoments& moments, const PixelView& out);
/// The same bits on the device that is current: enqueued on `stream`, returns at once. Views are device
/// memory that stays valid until the stream has passed. Throws InvalidArgument and CudaError.
void deviation_cuda(const WindowMoments& moments, const PixelView& out, DeviceStream stream);

/// Both at once, without images of sums in between: the bits of window_host in f64, of values and of squares,
/// and of deviation_host of these; with `least` the contrast of the pixels of `in`. `window` is the one of
/// squares, with NaN like any value. Shapes as for window_host; `out` is of f32 or f64.
void window_deviation_host(const Window& window, std::optional<double> least, const Border& border,
                           const ConstRegion& in, const Region& out, Worker& worker);
/// Whether that is there: what lies beyond the edges is of the image, or 0.
bool walks_moments(const Border& border);
/// Upper bound of the arena bytes for outputs up to this extent.
std::int64_t window_deviation_scratch_bytes(const Window& window, Extent out, std::int64_t channels);

}  // namespace sepconv
