// Helpers of variants_2d.cu and variants_3d.cu.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "kernels/device/runtime.hpp"

namespace sepconv::transpose_variants {

/// Calls visitor with an unsigned integer of 1, 2, 4 or 8 bytes.
template <class Visitor>
void visit_element(std::int64_t element_bytes, const Visitor& visitor) {
  switch (element_bytes) {
    case 1:
      return visitor(std::uint8_t{});
    case 2:
      return visitor(std::uint16_t{});
    case 4:
      return visitor(std::uint32_t{});
    default:
      return visitor(std::uint64_t{});
  }
}

inline int tiles_of(std::int64_t length, int side) { return static_cast<int>((length + side - 1) / side); }

inline void check_launch() {
  check_cuda(cudaGetLastError(), "launching a kernel of the transpose benchmark");
}

}  // namespace sepconv::transpose_variants
