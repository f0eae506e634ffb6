// How much of a product exact_gemm_host packs at a time. Private to kernels/gemm.
#pragma once

#include <algorithm>

#include "core/memory.hpp"

namespace sepconv {

/// What is packed at a time: together they stay in a core's second cache.
struct ExactBlocks {
  static constexpr std::int64_t kStepRows = 6;      ///< of the result, in registers
  static constexpr std::int64_t kRows = 96;         ///< of x and of the result
  static constexpr std::int64_t kDepth = 256;       ///< of k
  static constexpr std::int64_t kColBytes = 1024;   ///< of y and of the result, in the arithmetic type
  static constexpr std::int64_t kStripBytes = 128;  ///< the widest that two vectors can be
  static constexpr std::int64_t kPadBytes = 64;     ///< rows of x do not begin a power of two apart
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
