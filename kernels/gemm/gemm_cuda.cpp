#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <map>
#include <mutex>
#include <vector>

#include "core/error.hpp"
#include "kernels/gemm/blas_library.hpp"
#include "kernels/gemm/gemm_views.hpp"

namespace sepconv::engine {
namespace {

// Declarations of cublas_api.h.
using Handle = void*;
using Status = int;
constexpr int kNoTrans = 0;
constexpr int kTrans = 1;
template <class T>
using Gemm = Status(Handle, int trans_a, int trans_b, std::int64_t m, std::int64_t n, std::int64_t k,
                    const T* alpha, const T* a, std::int64_t lda, const T* b, std::int64_t ldb, const T* beta,
                    T* c, std::int64_t ldc);

struct CuBlas {
  BlasLibrary library{"SEPCONV_CUBLAS", {"libcublas.so.13", "libcublas.so.12", "libcublas.so"}};
  Status (*create)(Handle*) = library.find<Status(Handle*)>("cublasCreate_v2");
  Status (*set_stream)(Handle,
                       cudaStream_t) = library.find<Status(Handle, cudaStream_t)>("cublasSetStream_v2");
  Status (*get_version)(Handle, int*) = library.find<Status(Handle, int*)>("cublasGetVersion_v2");
  const char* (*status_text)(Status) = library.find<const char*(Status)>("cublasGetStatusString");
  Gemm<float>* sgemm = library.find<Gemm<float>>("cublasSgemm_v2_64");
  Gemm<double>* dgemm = library.find<Gemm<double>>("cublasDgemm_v2_64");

  bool is_complete() const {
    return create != nullptr && set_stream != nullptr && get_version != nullptr && status_text != nullptr &&
           sgemm != nullptr && dgemm != nullptr;
  }
};

CuBlas& cu_blas() {
  static CuBlas blas;
  return blas;
}

CuBlas& require_blas() {
  CuBlas& blas = cu_blas();
  if (!blas.is_complete()) {
    throw InvalidArgument(
        fmt::format("products of matrices on a GPU need cuBLAS of CUDA 12 or later, and {}; install "
                    "libcublas, name its file, from / on, in SEPCONV_CUBLAS, or compute on the CPU",
                    blas.library.is_open() ? "the library found is another one" : blas.library.failure()));
  }
  return blas;
}

void check(const CuBlas& blas, Status status, const char* action) {
  constexpr Status kAllocationFailed = 3;
  if (status == kAllocationFailed)
    throw OutOfMemory(fmt::format("{} failed: the GPU's memory is short", action));
  if (status != 0) throw DeviceError(fmt::format("{} failed: {}", action, blas.status_text(status)));
}

/// Unused handles, by device. They are reused, because creating one takes tens of milliseconds, and never
/// destroyed: the driver may be unloaded before them at the end of the process.
class Handles {
 public:
  Handle acquire(const CuBlas& blas, int device) {
    {
      const std::scoped_lock lock(mutex_);
      std::vector<Handle>& free = free_[device];
      if (!free.empty()) {
        const Handle handle = free.back();
        free.pop_back();
        return handle;
      }
    }
    Handle handle = nullptr;
    check(blas, blas.create(&handle), "starting cuBLAS");
    return handle;
  }
  void release(int device, Handle handle) noexcept {
    const std::scoped_lock lock(mutex_);
    free_[device].push_back(handle);
  }

 private:
  std::mutex mutex_;
  std::map<int, std::vector<Handle>> free_;
};

Handles& handles() {
  static auto* const all = new Handles;
  return *all;
}

/// Holds a handle of the current device until destruction.
class HandleLease {
 public:
  explicit HandleLease(const CuBlas& blas)
      : device_(current_device()), handle_(handles().acquire(blas, device_)) {}
  HandleLease(const HandleLease&) = delete;
  HandleLease& operator=(const HandleLease&) = delete;
  ~HandleLease() { handles().release(device_, handle_); }
  Handle get() const noexcept { return handle_; }

 private:
  int device_;
  Handle handle_;
};

/// cuBLAS is column-major: a row-major matrix is its transpose there, and out = op(a) op(b) is computed as
/// out^T = op(b)^T op(a)^T.
template <class T>
Status multiply(Gemm<T>* gemm, Handle handle, const GemmOp& op, const GemmShape& shape,
                const ConstPixelView& a, const ConstPixelView& b, const PixelView& out) {
  const T alpha = static_cast<T>(op.alpha);
  const T beta = static_cast<T>(op.beta);
  return gemm(handle, op.trans_b ? kTrans : kNoTrans, op.trans_a ? kTrans : kNoTrans, shape.n, shape.m,
              shape.k, &alpha, reinterpret_cast<const T*>(b.data), leading_dimension(b),
              reinterpret_cast<const T*>(a.data), leading_dimension(a), &beta, reinterpret_cast<T*>(out.data),
              leading_dimension(out));
}

}  // namespace

void gemm(const GemmOp& op, const ConstPixelView& a, const ConstPixelView& b, const PixelView& out,
          DeviceStream stream) {
  const GemmShape shape = checked_shape(op, a, b, out);
  if (shape.m == 0 || shape.n == 0) return;
  CuBlas& blas = require_blas();
  const HandleLease handle(blas);
  check(blas, blas.set_stream(handle.get(), stream), "giving cuBLAS a stream");
  check(blas,
        out.type == PixelType::f32 ? multiply(blas.sgemm, handle.get(), op, shape, a, b, out)
                                   : multiply(blas.dgemm, handle.get(), op, shape, a, b, out),
        "multiplying matrices by cuBLAS");
}

void prepare_gemm() { const HandleLease handle(require_blas()); }

std::string gemm_library() {
  const CuBlas& blas = cu_blas();
  if (!blas.is_complete()) return "";
  int version = 0;
  blas.get_version(nullptr, &version);  // 130002: 13.0.2
  return fmt::format("cuBLAS {}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

}  // namespace sepconv::engine
