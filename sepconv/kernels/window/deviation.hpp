// Deviations of windows, and pixels measured by them, of the means of values and of squares that windows
// have.
#pragma once

#include <optional>

#include "sepconv/core/image.hpp"
#include "sepconv/core/worker.hpp"
#include "sepconv/kernels/conv/border.hpp"
#include "sepconv/kernels/cuda/runtime.hpp"
#include "sepconv/kernels/window/window.hpp"

namespace sepconv {

/// What deviations are made of: views of one extent and as many channels.
struct WindowMoments {
  ConstPixelView means, squares;  ///< f64: means of values, and of their squares
  /// With pixels (any type) the result is (pixel - mean) / max(deviation, least), 0 over 0 being 0; without,
  /// the deviation.
  ConstPixelView pixels{};
  double least = 0;
};

/// In f64: v = fma(-mean, mean, mean of squares), deviation sqrt(v), 0 where v is not above 0; NaN stays NaN.
/// `out` is of f32 or f64, and may be one of the views that are f64. Throws InvalidArgument for views that do
/// not fit.
void deviation_reference(const WindowMoments& moments, const PixelView& out);
/// The same bits, fast.
void deviation_host(const WindowMoments& moments, const PixelView& out);
/// The same bits on the device that is current: enqueued on `stream`, returns at once. Views are device
/// memory that stays valid until the stream has passed. Throws InvalidArgument and CudaError.
void deviation_cuda(const WindowMoments& moments, const PixelView& out, DeviceStream stream);

/// Both at once, without images of means in between: the bits of window_host in f64, of values and of
/// squares, and of deviation_host of these; with `least` the contrast of the pixels of `in`. `window` is the
/// one of squares, with NaN like any value. Shapes as for window_host; `out` is of f32 or f64.
void window_deviation_host(const Window& window, std::optional<double> least, const Border& border,
                           const ConstRegion& in, const Region& out, Worker& worker);
/// Whether that is there: what lies beyond the edges is of the image, or 0.
bool walks_moments(const Border& border);
/// Upper bound of the arena bytes for outputs up to this extent.
std::int64_t window_deviation_scratch_bytes(const Window& window, Extent out, std::int64_t channels);

}  // namespace sepconv
