// The table of launchers of the benchmark kernels, like the library's (kernels/device/backend.hpp). Callers
// have checked the arguments and pass no empty matrices or images.
#pragma once

#include "bench/conv/variants.hpp"
#include "bench/gemm/variants.hpp"
#include "bench/transpose/variants.hpp"

namespace sepconv {

/// An entry without a comment behaves as the function whose type it has. All throw DeviceError.
struct BenchBackend {
  decltype(sepconv::convolve_pass)& conv_pass;
  decltype(sepconv::fill_device_memory)& fill;
  void (&gemm)(GemmVariant, const GemmShape&, const GemmOperands&, const PixelView& out, DeviceStream);
  /// Also throws InvalidArgument for operands that the device cannot address.
  void (&gemm_zero_copy)(ZeroCopyVariant, const GemmOperands&, const TileCache&, const PixelView& out,
                         DeviceStream);
  KernelFacts (&gemm_facts)(GemmVariant, PixelType, bool trans_a, bool trans_b);
  KernelFacts (&zero_copy_facts)(ZeroCopyVariant, PixelType, int side);
  void (&transpose)(TransposeVariant, const TransposeShape&, ConstMatrices, Matrices, DeviceStream);
  /// All variants except tile_2d_32 and tile_2d_8.
  void (&permute)(PermuteVariant, const TensorExtent&, const Permutation&, std::int64_t element_bytes,
                  const TileExtent&, const std::byte*, std::byte*, DeviceStream);
};

/// The installed backend, or the CUDA one. Throws DeviceError if the build has none.
const BenchBackend& bench_backend();
/// Replaces the backend, as install_device_backend() does. `backend` must outlive all calls.
void install_bench_backend(const BenchBackend& backend) noexcept;

}  // namespace sepconv
