#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <mutex>
#include <thread>
#include <vector>

#include "core/byte_text.hpp"
#include "core/count_text.hpp"
#include "core/error.hpp"
#include "core/openblas_limits.hpp"
#include "kernels/gemm/blas_library.hpp"
#include "kernels/gemm/gemm_views.hpp"

namespace sepconv {
namespace {

// Declarations of cblas.h.
constexpr int kRowMajor = 101;
constexpr int kNoTrans = 111;
constexpr int kTrans = 112;
template <class T>
using Gemm = void(int order, int trans_a, int trans_b, int m, int n, int k, T alpha, const T* a, int lda,
                  const T* b, int ldb, T beta, T* c, int ldc);

/// Throws LimitReached if the address space is too small; OpenBLAS would retry its allocations forever.
void check_address_space(int threads, const char* advice) {
  const std::int64_t needed = openblas_address_bytes(threads), available = free_address_bytes();
  if (needed <= available) return;
  throw LimitReached(
      fmt::format("OpenBLAS takes {} of address space for {}, and this process may use {} more; raise the "
                  "limit (ulimit -v){}",
                  format_bytes(static_cast<double>(needed)), count_text(threads, "thread"),
                  format_bytes(static_cast<double>(available)), advice));
}

/// First member of OpenBlas: checks the address space that OpenBLAS needs when it is loaded.
struct AddressSpaceForLoad {
  AddressSpaceForLoad() {
    const int threads = openblas_threads_at_load();
    check_address_space(threads, threads > 1 ? " or set OPENBLAS_NUM_THREADS to 1" : "");
  }
};

struct OpenBlas {
  AddressSpaceForLoad address_space_check;
  BlasLibrary library{"SEPCONV_OPENBLAS", {"libopenblas.so.0", "libopenblas.so"}};
  Gemm<float>* sgemm = library.find<Gemm<float>>("cblas_sgemm");
  Gemm<double>* dgemm = library.find<Gemm<double>>("cblas_dgemm");
  void (*set_threads)(int) = library.find<void(int)>("openblas_set_num_threads");
  int (*threads)() = library.find<int()>("openblas_get_num_threads");
  char* (*config)() = library.find<char*()>("openblas_get_config");
  std::mutex mutex;  // protects the number of threads
  int ready = 0;     // number of threads that have allocated their buffers

  /// Builds with 64-bit integers have different functions under the same names.
  bool counts_in_32_bits() const { return std::string(config()).find("USE64BITINT") == std::string::npos; }
  bool is_complete() const {
    return sgemm != nullptr && dgemm != nullptr && set_threads != nullptr && threads != nullptr &&
           config != nullptr && counts_in_32_bits();
  }
};

OpenBlas& open_blas() {
  // If the constructor throws, the next call tries again.
  static OpenBlas blas;
  return blas;
}

OpenBlas& require_blas() {
  OpenBlas& blas = open_blas();
  if (!blas.is_complete()) {
    throw InvalidArgument(
        fmt::format("products of matrices on the CPU need OpenBLAS, and {}; install libopenblas0, or name "
                    "its file, from / on, in SEPCONV_OPENBLAS",
                    blas.library.is_open() ? "the library found is another one" : blas.library.failure()));
  }
  return blas;
}

/// Sets OpenBLAS's number of threads until destruction.
class ThreadCount {
 public:
  ThreadCount(const OpenBlas& blas, int threads)
      : blas_(blas), before_(blas.threads()), changed_(before_ != threads) {
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
    throw InvalidArgument(
        fmt::format("OpenBLAS counts in 32 bits, and {} is more; multiply parts of the matrix", value));
  return static_cast<int>(value);
}

template <class T>
void multiply(Gemm<T>* gemm, const GemmOp& op, const GemmShape& shape, const ConstPixelView& a,
              const ConstPixelView& b, const PixelView& out) {
  gemm(kRowMajor, op.trans_a ? kTrans : kNoTrans, op.trans_b ? kTrans : kNoTrans, blas_int(shape.m),
       blas_int(shape.n), blas_int(shape.k), static_cast<T>(op.alpha), reinterpret_cast<const T*>(a.data),
       blas_int(leading_dimension(a)), reinterpret_cast<const T*>(b.data), blas_int(leading_dimension(b)),
       static_cast<T>(op.beta), reinterpret_cast<T*>(out.data), blas_int(leading_dimension(out)));
}

/// Makes all threads allocate their buffers while there is address space, by a product that all of them take
/// part in.
void allocate_buffers(OpenBlas& blas, int threads) {
  constexpr std::int64_t kSide = 256;  // smaller products use fewer threads
  const std::int64_t before = free_address_bytes();
  const std::vector<float> ones(kSide * kSide, 1);
  std::vector<float> sums(kSide * kSide);
  const ThreadCount count(blas, threads);
  multiply(blas.sgemm, {}, {kSide, kSide, kSide}, view_of(ones.data(), {kSide, kSide}),
           view_of(ones.data(), {kSide, kSide}), view_of(sums.data(), {kSide, kSide}));
  // Threads that had no part of the product allocate when they start.
  const std::int64_t expected_free = before - (threads - blas.ready) * kOpenBlasBufferBytes;
  for (int pause = 0; free_address_bytes() > expected_free && pause < 1000; ++pause)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

/// Number of threads that OpenBLAS may use: `threads`, or fewer if the process's limits require it. Throws
/// Error if the limits do not even allow one.
int prepare_threads(OpenBlas& blas, int threads) {
  if (threads <= blas.ready) return threads;
  const int existing = std::max(blas.ready, blas.threads());
  if (threads > existing) threads = existing + startable_threads(threads - existing);
  if (free_address_bytes() < std::numeric_limits<std::int64_t>::max()) {
    while (threads > std::max(1, blas.ready) &&
           openblas_address_bytes(threads - blas.ready) > free_address_bytes())
      --threads;
    if (threads <= blas.ready) return threads;
    check_address_space(threads - blas.ready, "");
    allocate_buffers(blas, threads);
  }
  blas.ready = threads;
  return threads;
}

}  // namespace

void gemm_host(const GemmOp& op, const ConstPixelView& a, const ConstPixelView& b, const PixelView& out,
               int threads) {
  const GemmShape shape = checked_shape(op, a, b, out);
  OpenBlas& blas = require_blas();
  const std::scoped_lock lock(blas.mutex);
  const ThreadCount count(blas, prepare_threads(blas, threads));
  out.type == PixelType::f32 ? multiply(blas.sgemm, op, shape, a, b, out)
                             : multiply(blas.dgemm, op, shape, a, b, out);
}

int prepare_gemm_host(int threads) {
  OpenBlas& blas = require_blas();
  const std::scoped_lock lock(blas.mutex);
  return prepare_threads(blas, threads);
}

std::string gemm_host_library() {
  try {
    const std::string config = require_blas().config();  // "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ..."
    return config.substr(0, config.find(' ', config.find(' ') + 1));
  } catch (const Error&) {
    return "";
  }
}

}  // namespace sepconv
