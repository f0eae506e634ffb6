// Products of matrices: out = alpha op(a) op(b) + beta out, as BLAS defines them, by the best library there
// is on each side.
//
// A matrix is an image of one channel: row-major, f32 or f64, rows `pitch_bytes` apart. OpenBLAS and cuBLAS
// are looked for when they are first needed, so a program without them does everything else.
#pragma once

#include "core/image.hpp"
#include "kernels/cuda/runtime.hpp"

namespace sepconv {

/// What is done to the operands. op(x) is x, or its transpose.
struct GemmOp {
  bool trans_a = false;
  bool trans_b = false;
  double alpha = 1;
  double beta = 0;  ///< 0: the result is not read before it is written, so it may hold anything
};

/// Rows and columns of the product, and the sums' length.
struct GemmShape {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  double operations() const noexcept {
    return static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  }  ///< multiply-adds
  friend bool operator==(const GemmShape&, const GemmShape&) = default;
};

/// op(a) is m x k, op(b) k x n. Throws InvalidArgument, which names both shapes, if these do not fit, if a
/// type is neither f32 nor f64, if types differ, or if there is more than one channel.
GemmShape gemm_shape(const GemmOp& op, const ImageSpec& a, const ImageSpec& b);
/// The same, and `out` (or what is added) must be m x n of the same type.
GemmShape gemm_shape(const GemmOp& op, const ImageSpec& a, const ImageSpec& b, const ImageSpec& out);

/// Three loops: each sum over ascending k in f64. For tests.
void gemm_reference(const GemmOp& op, const ConstPixelView& a, const ConstPixelView& b, const PixelView& out);

/// By OpenBLAS on at most `threads` threads of the CPU. `out` must not overlap the operands. Calls from
/// several threads take turns, because the number of OpenBLAS's threads is one for the process; it is left as
/// it was found. Throws InvalidArgument if the shapes do not fit, or if there is no OpenBLAS, with the way
/// out, and Error where the limit on address space is too low for it.
void gemm_host(const GemmOp& op, const ConstPixelView& a, const ConstPixelView& b, const PixelView& out,
               int threads);

/// By cuBLAS on the current device, whose memory all three lie in: enqueued on `stream`. Re-entrant; each
/// device has a handle a thread. Throws as gemm_host does, and CudaError.
void gemm_cuda(const GemmOp& op, const ConstPixelView& a, const ConstPixelView& b, const PixelView& out,
               DeviceStream stream);

/// Looks for OpenBLAS and sees that it can have this many threads, which gemm_host would do itself. Returns how
/// many: fewer where the system gives no more. Throws as gemm_host does.
int prepare_gemm_host(int threads);
/// Starts cuBLAS on the current device, which gemm_cuda would do itself when it is first called: tens of
/// milliseconds, and memory of the device. Throws OutOfMemory too.
void prepare_gemm_cuda();

/// Name and version of what gemm_host and gemm_cuda call, "OpenBLAS 0.3.21", "cuBLAS 13.0.2"; empty if it is
/// not to be had.
std::string gemm_host_library();
std::string gemm_cuda_library();

}  // namespace sepconv
