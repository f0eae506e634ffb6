// Matrix products: out = alpha op(a) op(b) + beta out, as defined by BLAS, computed by OpenBLAS on the CPU
// and cuBLAS on a GPU.
//
// A matrix is an image of one channel: row-major, f32 or f64, rows `pitch_bytes` apart. OpenBLAS and cuBLAS
// are loaded on first use, so a program without them can do everything else.
#pragma once

#include "core/image.hpp"
#include "kernels/device/runtime.hpp"

namespace sepconv {

/// Parameters of a product. op(x) is x or its transpose.
struct GemmOp {
  bool trans_a = false;
  bool trans_b = false;
  double alpha = 1;
  double beta = 0;  ///< 0: the result is not read, so it may be uninitialised
};

/// Rows (m) and columns (n) of the product, and the length of the sums (k).
struct GemmShape {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  double operations() const noexcept {
    return static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  }  ///< multiply-adds
  friend bool operator==(const GemmShape&, const GemmShape&) = default;
};

/// op(a) is m x k, op(b) k x n. Throws InvalidArgument, naming both shapes, if they do not match, if a type
/// is neither f32 nor f64, if types differ, or if there is more than one channel.
GemmShape gemm_shape(const GemmOp& op, const ImageSpec& a, const ImageSpec& b);
/// The same; `out` (or the added matrix) must also be m x n of the same type.
GemmShape gemm_shape(const GemmOp& op, const ImageSpec& a, const ImageSpec& b, const ImageSpec& out);

/// Reference implementation for tests: three loops, each sum over ascending k in f64.
void gemm_reference(const GemmOp& op, const ConstPixelView& a, const ConstPixelView& b, const PixelView& out);

/// Computes the product by OpenBLAS on at most `threads` CPU threads. `out` must not overlap the operands.
/// Concurrent calls are serialized, because OpenBLAS's number of threads is global; it is restored
/// afterwards. Throws InvalidArgument if the shapes do not match, or, with advice, if OpenBLAS is missing;
/// Error if the limit on address space is too low for it.
void gemm_host(const GemmOp& op, const ConstPixelView& a, const ConstPixelView& b, const PixelView& out,
               int threads);

/// Computes the product by cuBLAS on the current device, which must own the memory of all three: enqueued on
/// `stream`. Re-entrant; concurrent calls use separate handles. Throws as gemm_host does, and DeviceError.
void gemm_device(const GemmOp& op, const ConstPixelView& a, const ConstPixelView& b, const PixelView& out,
                 DeviceStream stream);

/// Loads OpenBLAS and ensures that it can use this many threads; otherwise gemm_host does so. Returns the
/// number of threads: fewer if the system's limits require it. Throws as gemm_host does.
int prepare_gemm_host(int threads);
/// Initialises cuBLAS on the current device; otherwise the first gemm_device does so. Takes tens of
/// milliseconds and device memory. Throws OutOfMemory too.
void prepare_gemm_device();

/// Name and version of the library that gemm_host and gemm_device call: "OpenBLAS 0.3.21", "cuBLAS 13.0.2";
/// empty if it is not available.
std::string gemm_host_library();
std::string gemm_device_library();

}  // namespace sepconv
