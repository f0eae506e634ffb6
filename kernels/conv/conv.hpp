// Separable convolution of a region. docs/maths.md states the mathematics for users.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/image.hpp"
#include "core/worker.hpp"
#include "kernels/conv/border.hpp"
#include "kernels/device/runtime.hpp"
#include "kernels/pointwise/pointwise.hpp"

namespace sepconv {

/// Taps of one row pass and one column pass, applied as correlation. Each has an odd length 2 * radius + 1
/// with the anchor in the middle. An empty vector skips the pass; a single tap of 1 would turn -0 into +0.
struct SeparableTaps {
  std::vector<double> row;
  std::vector<double> col;
  /// Column pass before row pass: same bits as convolving the transposed image and transposing back.
  bool columns_first = false;

  std::int64_t row_radius() const noexcept {
    return row.empty() ? 0 : static_cast<std::int64_t>(row.size() / 2);
  }
  std::int64_t col_radius() const noexcept {
    return col.empty() ? 0 : static_cast<std::int64_t>(col.size() / 2);
  }

  /// The taps that do to a transposed image exactly what these do to the image.
  SeparableTaps transposed() const { return {col, row, !columns_first}; }
};

/// out = column pass (row pass (in extended by border)), for the pixels of out.rect; the passes swap if
/// taps.columns_first.
///
/// Shape: `in.rect` contains out.rect grown by (col_radius, row_radius) and clipped to the image; in.image ==
/// out.image. Any pixel types; channels equal. Arithmetic: taps are rounded once to `arithmetic`; each pass
/// is, per element, acc = +0; for k ascending: acc = fma(tap[k], x[k], acc). Between the passes values stay
/// in the arithmetic type; a store to an integer type rounds half to even and saturates (NaN becomes 0).
/// Constant borders extend the image before the first pass, so a row outside the image is the row pass of a
/// constant row (with columns_first, a column outside it is the column pass of a constant column). This is
/// the reference: one loop nest per pass, written to be read. Radii may exceed the image.
///
/// BorderMode::wrap reads pixels of the opposite edge. The reference supports it if `in` is the whole image.
/// The fast implementations need an image that already contains the wrapped pixels, so that out.rect grown by
/// the radii is inside it; otherwise they throw InvalidArgument.
void convolve_reference(const SeparableTaps& taps, const Border& border, const ConstRegion& in,
                        const Region& out, Arithmetic arithmetic);

/// Same bits as convolve_reference, but fast: a ring of filtered rows stays in the cache while the pass moves
/// down the region. Short filters over integers stay in registers (docs/decisions/0025-few-taps.md). Scratch
/// comes from `worker` and is released on return, except up to 64 KiB of stack. If `out` is written past the
/// caches, its stores are complete on return.
void convolve_host(const SeparableTaps& taps, const Border& border, const ConstRegion& in, const Region& out,
                   Arithmetic arithmetic, Worker& worker);

/// Upper bound of convolve_host's arena bytes for outputs up to extent `out` in images up to `image`.
std::int64_t convolve_scratch_bytes(const SeparableTaps& taps, Extent out, std::int64_t channels,
                                    Arithmetic arithmetic, Extent image = {kMaxSide, kMaxSide});

/// Operations that convolve_device applies to a value x in registers before storing it: join(other, x) if a
/// join is given, then the unary operations of `then`.
struct ConvolutionEpilogue {
  const PointwiseOp* join = nullptr;    ///< binary
  ConstPixelView other{};               ///< device memory; extent and channels of the result, any type
  std::span<const PointwiseOp> then{};  ///< at most kMaxFusedOps
};

/// Same bits on the current device. Enqueues on `stream` and returns immediately. Views and arena are
/// device memory that must stay valid until the stream has completed the work; the arena's space is released
/// on return and may be reused by later work on the same stream. Taps are launch parameters, so calls may run
/// concurrently. With columns_first the image is transposed in the arena before and after. `in` and `out` do
/// not overlap; a join's operand may be `out`. Throws InvalidArgument and DeviceError.
void convolve_device(const SeparableTaps& taps, const Border& border, const ConstRegion& in,
                     const Region& out, Arithmetic arithmetic, Arena& arena, DeviceStream stream,
                     const ConvolutionEpilogue& epilogue = {});

/// How the two passes run on the device. All designs give the same bits.
enum class ConvolutionDesign {
  automatic,   ///< the fastest on this GPU
  two_passes,  ///< one kernel per pass, filtered rows in the arena between them; for any filter
  fused,       ///< one kernel, filtered rows in shared memory; only if convolve_device_fits
};

/// Whether the `fused` design fits such a filter on the current GPU, in rows of less than 2^31 elements. It
/// supports filters with both passes over sources of the arithmetic type, or integer sources in f32. Limits
/// with 227 KiB of shared memory per block: for one channel 191 taps in f32 and 147 in f64; row taps: 33 for
/// 2 or 3 channels, 17 for 4, 9 for 8. More channels are not supported.
bool convolve_device_fits(const SeparableTaps& taps, std::int64_t channels, PixelType from,
                          Arithmetic arithmetic);

/// convolve_device with the given design. Throws InvalidArgument if `fused` does not fit the filter.
void convolve_device(ConvolutionDesign design, const SeparableTaps& taps, const Border& border,
                     const ConstRegion& in, const Region& out, Arithmetic arithmetic, Arena& arena,
                     DeviceStream stream, const ConvolutionEpilogue& epilogue = {});

/// Upper bound of convolve_device's arena bytes for outputs up to extent `out` in images up to `image`.
std::int64_t convolve_device_bytes(const SeparableTaps& taps, Extent out, std::int64_t channels,
                                   Arithmetic arithmetic, Extent image = {kMaxSide, kMaxSide});

}  // namespace sepconv
