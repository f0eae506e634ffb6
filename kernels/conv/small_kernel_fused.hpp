// Which convolutions small_kernel_fused-inl.h does; private to this folder.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/image.hpp"
#include "kernels/conv/conv.hpp"

namespace sepconv {

/// Tuning, measured by tests/peers/conv.py.
struct SmallKernel {
  /// For both passes alike. The column pass keeps four vectors of sums for each of its taps.
  static constexpr std::int64_t kMaxRadius = 5;
  /// For one channel, which has a faster row pass, and of results that stay in the caches, where this many rows
  /// at once take each other's place.
  static constexpr std::int64_t kMaxRadiusElsewhere = 3;
  /// Elements to both sides of an element that its row taps reach.
  static constexpr std::int64_t kMaxReach = 64;
  /// Elements of a row that are computed at once.
  static constexpr std::int64_t kBlock = 64;
  /// Rows of output that are computed at once; those above and below them are filtered once more for others.
  static constexpr std::int64_t kMaxRows = 64;
  static constexpr std::int64_t rows(std::int64_t radius) {
    return std::min(std::int64_t{8} << radius, kMaxRows);
  }
  static constexpr std::int64_t kMaxWindow = kMaxRows + 2 * kMaxRadius;
  /// From the bytes of a row that are filtered to those that are fetched meanwhile.
  static constexpr std::int64_t kPrefetchBytes = 512;
};

/// Whether these are passes of equally few taps over integers that keep their type, in rows of a block or
/// more, whose results are below 2^30 and whose border's constant, if it has one, is a pixel's value.
bool supports_small_kernel(const SeparableTaps& taps, const Border& border, const ConstRegion& in,
                           const Region& out);

}  // namespace sepconv
