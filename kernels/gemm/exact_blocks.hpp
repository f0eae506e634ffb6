// Block sizes of exact_gemm_host. Private to kernels/gemm.
#pragma once

#include <algorithm>

#include "core/memory.hpp"

namespace sepconv {

/// Sizes of the packed blocks; together they fit into a core's L2 cache.
struct ExactBlocks {
  static constexpr std::int64_t kStepRows = 6;  ///< rows of the result in registers
  static constexpr std::int64_t kRows = 96;     ///< rows of x and of the result
  static constexpr std::int64_t kDepth = 256;   ///< length in k
  static constexpr std::int64_t kColBytes =
      1024;  ///< bytes of a row of y and of the result, in the arithmetic type
  static constexpr std::int64_t kStripBytes = 128;  ///< maximum width of two vectors
  static constexpr std::int64_t kPadBytes = 64;     ///< avoids power-of-two distances between rows of x
  static_assert(kRows % kStepRows == 0 && kColBytes % kStripBytes == 0);

  std::int64_t rows, depth, col_bytes;

  ExactBlocks(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t element_bytes)
      : rows(std::min(round_up(std::max<std::int64_t>(m, 1), kStepRows), kRows)),
        depth(std::min(k, kDepth)),
        col_bytes(round_up(std::min(std::max<std::int64_t>(n, 1) * element_bytes, kColBytes), kStripBytes)) {}

  std::int64_t x_pitch_bytes(std::int64_t element_bytes) const noexcept {
    return aligned_pitch_bytes(depth * element_bytes) + kPadBytes;
  }
};

}  // namespace sepconv
