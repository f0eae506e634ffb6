// The table of launchers of the benchmark kernels, like the library's (kernels/cuda/backend.hpp). Callers
// have checked the arguments and pass no empty matrices or images.
#pragma once

#include "bench/conv/ladder.hpp"
#include "bench/gemm/ladder.hpp"
#include "bench/transpose/ladder.hpp"

namespace sepconv {

/// An entry without a comment behaves as the function whose type it has. All throw CudaError.
struct LadderBackend {
  decltype(sepconv::ladder_pass)& conv_pass;
  decltype(sepconv::ladder_fill)& fill;
  void (&gemm)(GemmRung, const GemmShape&, const GemmOperands&, const PixelView& out, DeviceStream);
  /// Also throws InvalidArgument for operands that the device cannot address.
  void (&gemm_zero_copy)(ZeroCopyRung, const GemmOperands&, const TileCache&, const PixelView& out,
                         DeviceStream);
  KernelFacts (&gemm_facts)(GemmRung, PixelType, bool trans_a, bool trans_b);
  KernelFacts (&zero_copy_facts)(ZeroCopyRung, PixelType, int side);
  void (&transpose)(TransposeRung, const TransposeShape&, ConstMatrices, Matrices, DeviceStream);
  /// All variants except tile_2d_32 and tile_2d_8.
  void (&permute)(PermuteRung, const TensorExtent&, const Permutation&, std::int64_t element_bytes,
                  const TileExtent&, const std::byte*, std::byte*, DeviceStream);
};

/// The installed backend, or the CUDA one. Throws CudaError if the build has none.
const LadderBackend& ladder_backend();
/// Replaces the backend, as install_cuda_backend() does. `backend` must outlive all calls.
void install_ladder_backend(const LadderBackend& backend) noexcept;

}  // namespace sepconv
