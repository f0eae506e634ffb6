#include "bench/backend.hpp"

#include <type_traits>

namespace sepconv {
namespace {
constinit const LadderBackend* installed = nullptr;
}  // namespace

void install_ladder_backend(const LadderBackend& backend) noexcept { installed = &backend; }

#if SEPCONV_HAS_CUDA
template <class FunctionReference>
using FunctionOf = std::remove_reference_t<FunctionReference>;

namespace conv_ladders {
FunctionOf<decltype(LadderBackend::conv_pass)> launch;
FunctionOf<decltype(LadderBackend::fill)> fill;
}  // namespace conv_ladders
namespace gemm_ladders {
FunctionOf<decltype(LadderBackend::gemm)> launch;
FunctionOf<decltype(LadderBackend::gemm_zero_copy)> launch;
FunctionOf<decltype(LadderBackend::gemm_facts)> facts;
FunctionOf<decltype(LadderBackend::zero_copy_facts)> facts;
}  // namespace gemm_ladders
namespace transpose_ladders {
FunctionOf<decltype(LadderBackend::transpose)> launch;
FunctionOf<decltype(LadderBackend::permute)> launch;
}  // namespace transpose_ladders

const LadderBackend& ladder_backend() {
  static const LadderBackend cuda_backend{.conv_pass = conv_ladders::launch,
                                          .fill = conv_ladders::fill,
                                          .gemm = gemm_ladders::launch,
                                          .gemm_zero_copy = gemm_ladders::launch,
                                          .gemm_facts = gemm_ladders::facts,
                                          .zero_copy_facts = gemm_ladders::facts,
                                          .transpose = transpose_ladders::launch,
                                          .permute = transpose_ladders::launch};
  return installed != nullptr ? *installed : cuda_backend;
}
#else
const LadderBackend& ladder_backend() {
  if (installed == nullptr)
    throw CudaError("this build has no CUDA engine; build it where a CUDA toolkit is installed");
  return *installed;
}
#endif

}  // namespace sepconv
