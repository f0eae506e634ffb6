// Products of matrices with the same bits on every processor, device and cut: what the stage `gemm` computes
// with.
//
//   out(i, j) = sum over ascending k of x(i, k) y(k, j)
//
// by fused multiply-add in the arithmetic type, starting from 0, and one rounding when stored. Operands and
// result may have any pixel types and pitches. Libraries add in an order of their own:
// kernels/gemm/gemm.hpp is for those.
//
// Operands are images. If the result has one channel, an operand's channels are summed over as well: those of
// a column (of y: of a row) follow each other in k. If the result has as many as one of the operands, and the
// other has one, each is a product of its own.
#pragma once

#include <span>

#include "core/image.hpp"
#include "core/worker.hpp"
#include "kernels/cuda/runtime.hpp"
#include "kernels/pointwise/pointwise.hpp"

namespace sepconv {

/// x or y: the image, or, of one channel only, its transpose.
struct ExactOperand {
  ConstPixelView pixels;
  bool transposed = false;
};

/// `out` must not overlap the operands. All throw InvalidArgument, naming the shapes, if they do not fit.
void exact_gemm_reference(const ExactOperand& x, const ExactOperand& y, const PixelView& out,
                          Arithmetic arithmetic);

/// Throws Cancelled when the worker is to stop.
void exact_gemm_host(const ExactOperand& x, const ExactOperand& y, const PixelView& out,
                     Arithmetic arithmetic, Worker& worker);

/// Upper bound of what exact_gemm_host takes of its worker for such a result; bounded whatever the size.
std::int64_t exact_gemm_scratch_bytes(Extent out, std::int64_t channels, std::int64_t sum_length,
                                      Arithmetic arithmetic);

/// The same bits on the device that is current: enqueued on `stream`, returns at once. Views are device
/// memory that stays valid until the stream has passed. `fused_ops` as of pointwise_cuda. Throws CudaError too.
void exact_gemm_cuda(const ExactOperand& x, const ExactOperand& y, const PixelView& out,
                     Arithmetic arithmetic, DeviceStream stream, std::span<const PointwiseOp> fused_ops = {});

}  // namespace sepconv
