// Matrix products with the same bits on every processor, on every device and for every partition, for the
// stage `gemm`.
//
//   out(i, j) = sum over ascending k of x(i, k) y(k, j)
//
// computed by fused multiply-add in the arithmetic type, starting from 0, with one rounding at the store.
// Operands and result may have any pixel types and pitches. BLAS libraries sum in an unspecified order; see
// kernels/gemm/gemm.hpp for those.
//
// Operands are images. If the result has one channel, the sum includes an operand's channels: the channels of
// a column (of a row for y) are consecutive in k. If the result has as many channels as one operand and the
// other operand has one, each channel is a separate product.
#pragma once

#include <span>

#include "core/image.hpp"
#include "core/worker.hpp"
#include "kernels/device/runtime.hpp"
#include "kernels/pointwise/pointwise.hpp"

namespace sepconv {

/// x or y: the image, or its transpose (only for one channel).
struct ExactOperand {
  ConstPixelView pixels;
  bool transposed = false;
};

/// `out` must not overlap the operands. All functions throw InvalidArgument, naming the shapes, if the shapes
/// do not match.
void exact_gemm_reference(const ExactOperand& x, const ExactOperand& y, const PixelView& out,
                          Arithmetic arithmetic);

/// Throws Cancelled if the worker is asked to stop.
void exact_gemm_host(const ExactOperand& x, const ExactOperand& y, const PixelView& out,
                     Arithmetic arithmetic, Worker& worker);

/// Upper bound of the scratch bytes that exact_gemm_host allocates from its worker for such a result; bounded
/// for all sizes.
std::int64_t exact_gemm_scratch_bytes(Extent out, std::int64_t channels, std::int64_t sum_length,
                                      Arithmetic arithmetic);

/// Bit-identical on the current device: enqueued on `stream`, returns immediately. Views are device memory
/// and must stay valid until the stream has executed the work. `fused_ops` as in pointwise_device. Throws
/// DeviceError too.
void exact_gemm_device(const ExactOperand& x, const ExactOperand& y, const PixelView& out,
                       Arithmetic arithmetic, DeviceStream stream,
                       std::span<const PointwiseOp> fused_ops = {});

}  // namespace sepconv
