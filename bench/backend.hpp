// Who runs the ladders' kernels: a table like that of the library's launchers
// (kernels/cuda/backend.hpp). What is asked for has been checked, and has elements.
#pragma once

#include "bench/conv/ladder.hpp"
#include "bench/gemm/ladder.hpp"
#include "bench/transpose/ladder.hpp"

namespace sepconv {

/// Entries without a comment keep the promises of the function whose type they have. All throw CudaError.
struct LadderBackend {
  decltype(sepconv::ladder_pass)& conv_pass;
  decltype(sepconv::ladder_fill)& fill;
  void (&gemm)(GemmRung, const GemmShape&, const GemmOperands&, const PixelView& out, DeviceStream);
  /// Throws InvalidArgument too for operands that the device has no address for.
  void (&gemm_zero_copy)(ZeroCopyRung, const GemmOperands&, const TileCache&, const PixelView& out,
                         DeviceStream);
  KernelFacts (&gemm_facts)(GemmRung, PixelType, bool trans_a, bool trans_b);
  KernelFacts (&zero_copy_facts)(ZeroCopyRung, PixelType, int side);
  void (&transpose)(TransposeRung, const TransposeShape&, ConstMatrices, Matrices, DeviceStream);
  /// All rungs but tile_2d_32 and tile_2d_8.
  void (&permute)(PermuteRung, const TensorExtent&, const Permutation&, std::int64_t element_bytes,
                  const TileExtent&, const std::byte*, std::byte*, DeviceStream);
};

/// The backend in use. Throws CudaError where there is none.
const LadderBackend& ladder_backend();
/// As install_cuda_backend.
void install_ladder_backend(const LadderBackend& backend) noexcept;

}  // namespace sepconv
