// The kernels that a backend may lack (backend.hpp). Convolution and pointwise operations are not among them.
#pragma once

#include <cstdint>
#include <string>

namespace sepconv {

/// A set of kernels, as bits.
enum class DeviceKernels : std::uint16_t {
  none = 0,
  alpha = 1 << 0,
  channel_matrices = 1 << 1,
  resampling = 1 << 2,
  ranks = 1 << 3,
  windows = 1 << 4,  ///< boxes
  disks = 1 << 5,
  deviations = 1 << 6,
  transposes = 1 << 7,
  exact_products = 1 << 8,  ///< of the stage `gemm`
  products = 1 << 9,        ///< of gemm()
  nan_search = 1 << 10,
  encoders = 1 << 11,
  decoders = 1 << 12,
  all = (1 << 13) - 1,
};

constexpr DeviceKernels operator|(DeviceKernels a, DeviceKernels b) noexcept {
  return static_cast<DeviceKernels>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
constexpr DeviceKernels& operator|=(DeviceKernels& a, DeviceKernels b) noexcept { return a = a | b; }

/// Whether the installed backend has all of these kernels. False without a backend.
bool backend_has(DeviceKernels kernels) noexcept;

/// "backend 'OpenCL' has no rank filters": those of these kernels that the installed backend lacks. Empty if it
/// has all, and without a backend.
std::string lacking_kernels(DeviceKernels kernels);

}  // namespace sepconv
