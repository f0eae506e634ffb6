// Resampling of a region: every pixel of the result is a weighted sum of a window of the input whose place
// and weights follow from the pixel's place, along one side and then along the other.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/image.hpp"
#include "core/worker.hpp"
#include "kernels/conv/border.hpp"
#include "kernels/cuda/runtime.hpp"
#include "kernels/pointwise/pointwise.hpp"
#include "kernels/resample/resample_kernel.hpp"

namespace sepconv {

struct Resampling {
  ResampleAxis down;           ///< from row to row: the column pass
  ResampleAxis across;         ///< from column to column: the row pass
  bool columns_first = false;  ///< column pass before row pass: the bits of the transposed image, transposed
  PointwiseOp read{};          ///< unary: what is resampled is this of the input
  /// For filters gaussian, columns first: how the input of each pass goes on beyond its edges; not wrap.
  /// Without, they ask for nothing that lies there; with one for some of the image, too.
  std::optional<Border> border{};
};

/// The part of the input that the pixels of `out` are made of; with a border also beyond its edges.
Rect resample_input(const Resampling& resampling, const Rect& out);

/// The pixels of an image that are or stand at these places, and at most those between them; never none.
Rect held_pixels(const Rect& places, Extent image, BorderMode border);
/// Those of resample_input(), or without a border that.
Rect resample_held(const Resampling& resampling, const Rect& out);

/// Most pixels of the input that any `count` neighbours of the result are made of.
std::int64_t resample_max_pixels(const ResampleAxis& axis, std::int64_t count);

/// out = column pass (row pass (in)), for the pixels of out.rect; the passes change places if columns_first.
/// Each pass is, per element: acc = +0; for the window's pixels ascending: acc = fma(weight, x, acc), with
/// weights of sum 1 that are computed in f64 and rounded once to `arithmetic`. A pass that keeps its side is
/// left out. What a border says beyond the edges is x too, also between the passes, where values stay in the
/// arithmetic type; stored as in conv.hpp.
///
/// Shape: in.image is {down.from, across.from}, out.image is {down.to, across.to}, `in.rect` holds
/// resample_held(out.rect). Any pixel types; channels equal. Throws InvalidArgument.
/// Allocates as it likes.
void resample_reference(const Resampling& resampling, const ConstRegion& in, const Region& out,
                        Arithmetic arithmetic);

/// The same bits, fast: a row pass takes many rows at once, one in each lane of a vector, and rows pass
/// through a ring as high as a window. Scratch comes from `worker`. Throws Cancelled when that is to stop.
void resample_host(const Resampling& resampling, const ConstRegion& in, const Region& out,
                   Arithmetic arithmetic, Worker& worker);

/// Upper bound of the scratch bytes of resample_host for outputs up to this extent.
std::int64_t resample_scratch_bytes(const Resampling& resampling, Extent out, std::int64_t channels,
                                    Arithmetic arithmetic);

/// The same bits on the device that is current: enqueued on `stream`, returns at once. Views and arena as of
/// convolve_cuda, `then` as of pointwise_cuda. Weights are computed on the device. Throws CudaError too.
void resample_cuda(const Resampling& resampling, const ConstRegion& in, const Region& out,
                   Arithmetic arithmetic, Arena& arena, DeviceStream stream,
                   std::span<const PointwiseOp> then = {});

/// Upper bound of the arena bytes of resample_cuda for outputs up to this extent.
std::int64_t resample_device_bytes(const Resampling& resampling, Extent out, std::int64_t channels,
                                   Arithmetic arithmetic);

}  // namespace sepconv
