// Resampling of a region, along one axis and then along the other: every pixel of the result is a weighted
// sum of a window of the input; its position determines the window and the weights.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/image.hpp"
#include "core/worker.hpp"
#include "kernels/conv/border.hpp"
#include "kernels/device/runtime.hpp"
#include "kernels/pointwise/pointwise.hpp"
#include "kernels/resample/resample_kernel.hpp"

namespace sepconv {

struct Resampling {
  ResampleAxis down;           ///< from row to row: the column pass
  ResampleAxis across;         ///< from column to column: the row pass
  bool columns_first = false;  ///< column pass before row pass: same bits as on the transposed image
  PointwiseOp read{};          ///< unary operation applied to the input first
  /// For the gaussian filter, columns first: border of each pass's input. Without a border, windows must be
  /// inside the input; with one, a pass may also read more of the image, which the border maps to.
  std::optional<Border> border{};
};

/// The part of the input that `out` depends on; with a border it may extend beyond the image.
Rect resample_input(const Resampling& resampling, const Rect& out);

/// A rectangle of the image that contains all pixels that `positions` map to under the border; never empty.
Rect held_pixels(const Rect& positions, Extent image, BorderMode border);
/// held_pixels() of resample_input(), or without a border resample_input() itself.
Rect resample_source_rect(const Resampling& resampling, const Rect& out);

/// Maximum input pixels that `count` adjacent pixels of the result depend on.
std::int64_t resample_max_pixels(const ResampleAxis& axis, std::int64_t count);

/// out = column pass (row pass (in)), for the pixels of out.rect; the passes swap if columns_first. Each pass
/// is, per element: acc = +0; for the window's pixels ascending: acc = fma(weight, x, acc), with weights of
/// sum 1 that are computed in f64 and rounded once to `arithmetic`. A pass with scale 1 is skipped. Beyond
/// the edges x comes from the border, also between the passes, where values stay in the arithmetic type.
/// Stores as in conv.hpp.
///
/// Shape: in.image is {down.from, across.from}, out.image is {down.to, across.to}, `in.rect` contains
/// resample_source_rect(out.rect). Any pixel types; channels equal. Throws InvalidArgument. This is the reference;
/// it allocates memory.
void resample_reference(const Resampling& resampling, const ConstRegion& in, const Region& out,
                        Arithmetic arithmetic);

/// Same bits as resample_reference, but fast: a row pass processes many rows together, one per vector lane,
/// and rows are buffered in a ring as high as a window. Scratch comes from `worker`. Throws Cancelled when it
/// is stopped.
void resample_host(const Resampling& resampling, const ConstRegion& in, const Region& out,
                   Arithmetic arithmetic, Worker& worker);

/// Upper bound of the scratch bytes of resample_host for outputs up to extent `out`.
std::int64_t resample_scratch_bytes(const Resampling& resampling, Extent out, std::int64_t channels,
                                    Arithmetic arithmetic);

/// Same bits on the current device. Enqueues on `stream` and returns immediately. Views and arena as for
/// convolve_device, `then` as for pointwise_device. Weights are computed on the device. Throws DeviceError too.
void resample_device(const Resampling& resampling, const ConstRegion& in, const Region& out,
                     Arithmetic arithmetic, Arena& arena, DeviceStream stream,
                     std::span<const PointwiseOp> then = {});

/// Upper bound of the arena bytes of resample_device for outputs up to extent `out`.
std::int64_t resample_device_bytes(const Resampling& resampling, Extent out, std::int64_t channels,
                                   Arithmetic arithmetic);

}  // namespace sepconv
