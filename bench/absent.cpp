// The ladders' CUDA side of a build without a CUDA toolkit.
#include "bench/conv/ladder.hpp"
#include "bench/gemm/launch.hpp"
#include "bench/transpose/launch.hpp"
#include "sepconv/core/error.hpp"

namespace sepconv {
namespace {

[[noreturn]] void fail() {
  throw CudaError("this build has no CUDA engine; build it where a CUDA toolkit is installed");
}

}  // namespace

void gemm_ladders::launch(GemmRung, const GemmShape&, const GemmOperands&, const PixelView&, DeviceStream) {
  fail();
}
void gemm_ladders::launch(ZeroCopyRung, const GemmOperands&, const TileCache&, const PixelView&,
                          DeviceStream) {
  fail();
}
KernelFacts gemm_facts(GemmRung, PixelType, bool, bool) { fail(); }
KernelFacts gemm_facts(ZeroCopyRung, PixelType, int) { fail(); }

void ladder_pass(LadderRung, LadderPass, const LadderTaps&, const ConstPixelView&, const PixelView&,
                 DeviceStream) {
  fail();
}
void ladder_fill(std::byte*, int, std::int64_t, DeviceStream) { fail(); }

void transpose_ladders::launch(TransposeRung, const TransposeShape&, ConstMatrices, Matrices, DeviceStream) {
  fail();
}
void transpose_ladders::launch(PermuteRung, const TensorExtent&, const Permutation&, std::int64_t,
                               const TileExtent&, const std::byte*, std::byte*, DeviceStream) {
  fail();
}

}  // namespace sepconv
