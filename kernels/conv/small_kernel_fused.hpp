// Which convolutions small_kernel_fused-inl.h supports; private to this folder.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/image.hpp"
#include "kernels/conv/conv.hpp"

namespace sepconv {

/// Tuning, measured by tests/peers/conv.py.
struct SmallKernel {
  /// Taps of both passes. The column pass keeps four vectors of sums for each of its taps.
  static constexpr std::int64_t kMaxRadius = 5;
  /// For one channel, which has a faster row pass, and for results stored through the caches, where this many
  /// concurrent rows evict each other.
  static constexpr std::int64_t kMaxRadiusCached = 3;
  /// Maximum elements under the row taps besides the element itself, both sides together.
  static constexpr std::int64_t kMaxReach = 64;
  /// Elements of a row that are computed together.
  static constexpr std::int64_t kBlock = 64;
  /// Output rows that are computed together. Adjacent blocks filter the halo rows between them again.
  static constexpr std::int64_t kMaxRows = 64;
  static constexpr std::int64_t rows(std::int64_t radius) {
    return std::min(std::int64_t{8} << radius, kMaxRows);
  }
  static constexpr std::int64_t kMaxWindow = kMaxRows + 2 * kMaxRadius;
  /// Prefetch distance along a row.
  static constexpr std::int64_t kPrefetchBytes = 512;
};

/// Whether both passes have the same small number of taps, pixels are integers that keep their type, rows are
/// at least a block long, results are below 2^30, and a constant border is representable as a pixel.
bool supports_small_kernel(const SeparableTaps& taps, const Border& border, const ConstRegion& in,
                           const Region& out);

}  // namespace sepconv
