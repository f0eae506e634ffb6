// Separable convolution of a region, and sums of such: the mathematics that docs/maths.md states for users.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/image.hpp"
#include "core/worker.hpp"
#include "kernels/conv/border.hpp"
#include "kernels/cuda/runtime.hpp"
#include "kernels/pointwise/pointwise.hpp"

namespace sepconv {

/// Taps of one row pass and one column pass, each of odd length 2 * radius + 1 with the anchor in the middle,
/// applied as correlation. An empty vector means that the pass is left out (not the same as one tap of 1,
/// which turns -0 into +0).
struct SeparableTaps {
  std::vector<double> row;
  std::vector<double> col;
  /// Column pass before row pass: the bits of a convolution of the transposed image, transposed back.
  bool columns_first = false;

  std::int64_t row_radius() const noexcept {
    return row.empty() ? 0 : static_cast<std::int64_t>(row.size() / 2);
  }
  std::int64_t col_radius() const noexcept {
    return col.empty() ? 0 : static_cast<std::int64_t>(col.size() / 2);
  }

  /// The taps that do to a transposed image what these do to the image, to the bit.
  SeparableTaps transposed() const { return {col, row, !columns_first}; }
};

/// out = column pass (row pass (in extended by border)), for the pixels of out.rect; the passes change places
/// if taps.columns_first.
///
/// Shape: `in.rect` holds out.rect grown by (col_radius, row_radius) and clipped to the image; in.image ==
/// out.image. Any pixel types; channels equal. Arithmetic: taps are rounded once to `arithmetic`; each pass
/// is, per element, acc = +0; for k ascending: acc = fma(tap[k], x[k], acc). Between the passes values stay
/// in the arithmetic type; a store to an integer type rounds half to even and saturates (NaN becomes 0).
/// Constant borders extend the image before the first pass, so a row outside the image is the row pass of a
/// constant row (with columns_first, a column outside it the column pass of a constant column). The
/// reference: one loop nest a pass, meant to be read. Any radius, also beyond the image.
///
/// BorderMode::wrap brings pixels of the other edge: the reference has them where `in` is the whole image.
/// The fast implementations map borders within what is near: they are given an image that holds what lies
/// beyond the edges, so that out.rect grown by the radii lies inside it, and throw InvalidArgument else.
void convolve_reference(const SeparableTaps& taps, const Border& border, const ConstRegion& in,
                        const Region& out, Arithmetic arithmetic);

/// The same bits, fast: rows pass through a ring of filtered rows that stays in the cache while the region is
/// marched down; few taps over integers stay in registers (docs/decisions/0025-few-taps.md). Scratch comes
/// from `worker` and is given back on return, but for up to 64 KiB of the stack. Stores of an `out` past the
/// caches are complete on return.
void convolve_host(const SeparableTaps& taps, const Border& border, const ConstRegion& in, const Region& out,
                   Arithmetic arithmetic, Worker& worker);

/// Upper bound of the arena bytes of convolve_host for outputs up to this extent in images up to `image`.
std::int64_t convolve_scratch_bytes(const SeparableTaps& taps, Extent out, std::int64_t channels,
                                    Arithmetic arithmetic, Extent image = {kMaxSide, kMaxSide});

/// What convolve_cuda does to a value before it stores it, without a trip through memory: x becomes
/// join(other, x) if a join is given, and then passes through the unary operations of `then`.
struct ConvolutionEpilogue {
  const PointwiseOp* join = nullptr;    ///< binary
  ConstPixelView other{};               ///< device memory; extent and channels of the result, any type
  std::span<const PointwiseOp> then{};  ///< at most kMaxFusedOps
};

/// The same bits on the device that is current: enqueued on `stream`, returns at once. Views and arena are
/// device memory that stays valid until the stream has passed; the arena's space is given back on return and
/// may be used again by work that comes later on the same stream. Taps travel with the launch, so any number
/// of calls may run at once. With columns_first the image is transposed in the arena before and after. `in`
/// and `out` do not overlap; a join's operand may be `out`. Throws InvalidArgument and CudaError.
void convolve_cuda(const SeparableTaps& taps, const Border& border, const ConstRegion& in, const Region& out,
                   Arithmetic arithmetic, Arena& arena, DeviceStream stream,
                   const ConvolutionEpilogue& epilogue = {});

/// How the two passes are put on the device. All have the same bits.
enum class CudaDesign {
  automatic,   ///< what is fastest on this GPU
  two_passes,  ///< a kernel each, the filtered rows in the arena between them; for any filter
  fused,       ///< one kernel, filtered rows in shared memory; where convolve_cuda_fits says so
};

/// Whether `fused` has room for such a filter on the current GPU, in rows of less than 2^31 elements. It
/// takes filters with both passes and sources of the arithmetic type, or of integers in f32. With 227 KiB of
/// shared memory a block: 191 taps in f32 and 147 in f64 of one channel; of 2 or 3 channels 33 row taps, of 4
/// 17, of 8 9, and no more channels.
bool convolve_cuda_fits(const SeparableTaps& taps, std::int64_t channels, PixelType from,
                        Arithmetic arithmetic);

/// The same with a design of the caller's choice. Throws InvalidArgument where `fused` has no room for the
/// filter.
void convolve_cuda(CudaDesign design, const SeparableTaps& taps, const Border& border, const ConstRegion& in,
                   const Region& out, Arithmetic arithmetic, Arena& arena, DeviceStream stream,
                   const ConvolutionEpilogue& epilogue = {});

/// Upper bound of the arena bytes of convolve_cuda for outputs up to this extent in images up to `image`.
std::int64_t convolve_device_bytes(const SeparableTaps& taps, Extent out, std::int64_t channels,
                                   Arithmetic arithmetic, Extent image = {kMaxSide, kMaxSide});

}  // namespace sepconv
