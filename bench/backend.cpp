#include "bench/backend.hpp"

#include <type_traits>

namespace sepconv {
namespace {
constinit const BenchBackend* installed = nullptr;
}  // namespace

void install_bench_backend(const BenchBackend& backend) noexcept { installed = &backend; }

#if SEPCONV_HAS_CUDA
template <class FunctionReference>
using FunctionOf = std::remove_reference_t<FunctionReference>;

namespace conv_variants {
FunctionOf<decltype(BenchBackend::conv_pass)> launch;
FunctionOf<decltype(BenchBackend::fill)> fill;
}  // namespace conv_variants
namespace gemm_variants {
FunctionOf<decltype(BenchBackend::gemm)> launch;
FunctionOf<decltype(BenchBackend::gemm_zero_copy)> launch;
FunctionOf<decltype(BenchBackend::gemm_facts)> facts;
FunctionOf<decltype(BenchBackend::zero_copy_facts)> facts;
}  // namespace gemm_variants
namespace transpose_variants {
FunctionOf<decltype(BenchBackend::transpose)> launch;
FunctionOf<decltype(BenchBackend::permute)> launch;
}  // namespace transpose_variants

const BenchBackend& bench_backend() {
  static const BenchBackend cuda_backend{.conv_pass = conv_variants::launch,
                                         .fill = conv_variants::fill,
                                         .gemm = gemm_variants::launch,
                                         .gemm_zero_copy = gemm_variants::launch,
                                         .gemm_facts = gemm_variants::facts,
                                         .zero_copy_facts = gemm_variants::facts,
                                         .transpose = transpose_variants::launch,
                                         .permute = transpose_variants::launch};
  return installed != nullptr ? *installed : cuda_backend;
}
#else
const BenchBackend& bench_backend() {
  if (installed == nullptr)
    throw DeviceError("this build has no CUDA engine; build it where a CUDA toolkit is installed");
  return *installed;
}
#endif

}  // namespace sepconv
