#include <fmt/format.h>

#include <limits>
#include <mutex>

#include "sepconv/core/error.hpp"
#include "sepconv/kernels/gemm/blas_library.hpp"
#include "sepconv/kernels/gemm/gemm_views.hpp"

namespace sepconv {
namespace {

// Of cblas.h.
constexpr int kRowMajor = 101;
constexpr int kNoTrans = 111;
constexpr int kTrans = 112;
template <class T>
using Gemm = void(int order, int trans_a, int trans_b, int m, int n, int k, T alpha, const T* a, int lda, const T* b, int ldb, T beta, T* c, int ldc);

struct OpenBlas {
  BlasLibrary library{"SEPCONV_OPENBLAS", {"libopenblas.so.0", "libopenblas.so"}};
  Gemm<float>* sgemm = library.find<Gemm<float>>("cblas_sgemm");
  Gemm<double>* dgemm = library.find<Gemm<double>>("cblas_dgemm");
  void (*set_threads)(int) = library.find<void(int)>("openblas_set_num_threads");
  int (*threads)() = library.find<int()>("openblas_get_num_threads");
  char* (*config)() = library.find<char*()>("openblas_get_config");
  std::mutex mutex;  // of the number of threads

  /// Builds that count in 64 bits have other functions under the same names.
  bool counts_in_32_bits() const { return std::string(config()).find("USE64BITINT") == std::string::npos; }
  bool is_complete() const { return sgemm != nullptr && dgemm != nullptr && set_threads != nullptr && threads != nullptr && config != nullptr && counts_in_32_bits(); }
};

OpenBlas& open_blas() {
  static OpenBlas blas;
  return blas;
}

OpenBlas& needed_blas() {
  OpenBlas& blas = open_blas();
  if (!blas.is_complete()) {
    throw InvalidArgument(fmt::format("products of matrices on the CPU need OpenBLAS, and {}; install libopenblas0, or name its file, from / on, in SEPCONV_OPENBLAS",
                                      blas.library.is_open() ? "the library found is another one" : blas.library.failure()));
  }
  return blas;
}

/// OpenBLAS's number of threads while this lives.
class ThreadCount {
 public:
  ThreadCount(const OpenBlas& blas, int threads) : blas_(blas), before_(blas.threads()), changed_(before_ != threads) {
    if (changed_) blas.set_threads(threads);
  }
  ThreadCount(const ThreadCount&) = delete;
  ThreadCount& operator=(const ThreadCount&) = delete;
  ~ThreadCount() {
    if (changed_) blas_.set_threads(before_);
  }

 private:
  const OpenBlas& blas_;
  int before_;
  bool changed_;
};

int blas_int(std::int64_t value) {
  if (value > std::numeric_limits<int>::max())
    throw InvalidArgument(fmt::format("OpenBLAS counts in 32 bits, and {} is more; multiply parts of the matrix", value));
  return static_cast<int>(value);
}

template <class T>
void multiply(Gemm<T>* gemm, const GemmOp& op, const GemmShape& shape, const ConstPixelView& a, const ConstPixelView& b, const PixelView& out) {
  gemm(kRowMajor, op.trans_a ? kTrans : kNoTrans, op.trans_b ? kTrans : kNoTrans, blas_int(shape.m), blas_int(shape.n), blas_int(shape.k),
       static_cast<T>(op.alpha), reinterpret_cast<const T*>(a.data), blas_int(leading_dimension(a)), reinterpret_cast<const T*>(b.data),
       blas_int(leading_dimension(b)), static_cast<T>(op.beta), reinterpret_cast<T*>(out.data), blas_int(leading_dimension(out)));
}

}  // namespace

void gemm_host(const GemmOp& op, const ConstPixelView& a, const ConstPixelView& b, const PixelView& out, int threads) {
  const GemmShape shape = checked_shape(op, a, b, out);
  OpenBlas& blas = needed_blas();
  const std::scoped_lock lock(blas.mutex);
  const ThreadCount count(blas, threads);
  out.type == PixelType::f32 ? multiply(blas.sgemm, op, shape, a, b, out) : multiply(blas.dgemm, op, shape, a, b, out);
}

void prepare_gemm_host() { needed_blas(); }

std::string gemm_host_library() {
  const OpenBlas& blas = open_blas();
  if (!blas.is_complete()) return "";
  const std::string config = blas.config();  // "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ..."
  return config.substr(0, config.find(' ', config.find(' ') + 1));
}

}  // namespace sepconv
