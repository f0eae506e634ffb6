#include "bench/backend.hpp"

#include <type_traits>

namespace sepconv {
namespace {
constinit const LadderBackend* in_use = nullptr;
}  // namespace

void install_ladder_backend(const LadderBackend& backend) noexcept { in_use = &backend; }

#if SEPCONV_HAS_CUDA
template <class Entry>
using Function = std::remove_reference_t<Entry>;

namespace conv_ladders {
Function<decltype(LadderBackend::conv_pass)> launch;
Function<decltype(LadderBackend::fill)> fill;
}  // namespace conv_ladders
namespace gemm_ladders {
Function<decltype(LadderBackend::gemm)> launch;
Function<decltype(LadderBackend::gemm_zero_copy)> launch;
Function<decltype(LadderBackend::gemm_facts)> facts;
Function<decltype(LadderBackend::zero_copy_facts)> facts;
}  // namespace gemm_ladders
namespace transpose_ladders {
Function<decltype(LadderBackend::transpose)> launch;
Function<decltype(LadderBackend::permute)> launch;
}  // namespace transpose_ladders

const LadderBackend& ladder_backend() {
  static const LadderBackend engine{.conv_pass = conv_ladders::launch,
                                    .fill = conv_ladders::fill,
                                    .gemm = gemm_ladders::launch,
                                    .gemm_zero_copy = gemm_ladders::launch,
                                    .gemm_facts = gemm_ladders::facts,
                                    .zero_copy_facts = gemm_ladders::facts,
                                    .transpose = transpose_ladders::launch,
                                    .permute = transpose_ladders::launch};
  return in_use != nullptr ? *in_use : engine;
}
#else
const LadderBackend& ladder_backend() {
  if (in_use == nullptr)
    throw CudaError("this build has no CUDA engine; build it where a CUDA toolkit is installed");
  return *in_use;
}
#endif

}  // namespace sepconv
