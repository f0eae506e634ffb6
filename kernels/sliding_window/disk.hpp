// Minima and maxima over disks, by their chords; private to this folder. All windows here have the shape
// Window::Shape::disk.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "core/memory.hpp"
#include "kernels/sliding_window/window_check.hpp"

namespace sepconv {

/// Whether the pixel `down` and `right` of the centre belongs to the disk. A radius of 0 gives a line.
inline bool disk_contains(const Window& window, std::int64_t down, std::int64_t right) noexcept {
  const auto square = [](std::int64_t value) { return value * value; };
  const std::int64_t x = window.radius_x, y = window.radius_y;
  return std::abs(right) <= x && std::abs(down) <= y && square(right * y) + square(down * x) <= square(x * y);
}

/// A row of a disk: the pixels up to `half` on each side of the middle column, covered by two windows of
/// 2^level pixels that may overlap.
struct Chord {
  std::int64_t half;
  int level;

  /// First columns of both windows, counted from the first column of the widest chord.
  std::int64_t first(std::int64_t radius_x) const noexcept { return radius_x - half; }
  std::int64_t second(std::int64_t radius_x) const noexcept {
    return radius_x + half + 1 - (std::int64_t{1} << level);
  }
};

inline Chord chord_of(const Window& window, std::int64_t down) noexcept {
  const double fraction =
      window.radius_y == 0 ? 0 : static_cast<double>(down) / static_cast<double>(window.radius_y);
  std::int64_t half = std::llround(static_cast<double>(window.radius_x) * std::sqrt(1 - fraction * fraction));
  while (!disk_contains(window, down, half)) --half;
  while (disk_contains(window, down, half + 1)) ++half;
  return {half, WindowSteps(2 * half + 1).levels};
}

struct DiskTuning {
  /// Size of a strip's rows of one level, which are read again for each result row.
  static constexpr std::int64_t kLevelBytes = 128 * 1024;
  /// Minimum strip width in radii; narrower strips spend too much on the halo.
  static constexpr std::int64_t kRadii = 4;
  /// Results computed together from all chords: four of the widest vectors.
  static constexpr std::int64_t kBlockBytes = 256;
};

/// How disk_host divides results of up to this extent into strips, in elements.
struct DiskSizes {
  DiskSizes(const Window& window, Extent out, std::int64_t channels, std::int64_t element_bytes)
      : rows(2 * window.radius_y + 1), levels(WindowSteps(2 * window.radius_x + 1).levels + 1) {
    const std::int64_t cache_cols = DiskTuning::kLevelBytes / (rows * channels * element_bytes);
    const std::int64_t min_cols = DiskTuning::kRadii * window.radius_x;
    strip_cols =
        std::clamp(std::max(cache_cols, min_cols), std::int64_t{1}, std::max<std::int64_t>(out.cols, 1));
    // An odd number of blocks, so that rows do not all map to the same sets of a cache, with one block that
    // vectors may access beyond a row's end.
    const std::int64_t block = DiskTuning::kBlockBytes / element_bytes;
    padding = round_up(window.radius_x * channels, block) - window.radius_x * channels;
    const std::int64_t bytes = (padding + (strip_cols + 2 * window.radius_x) * channels) * element_bytes;
    pitch = ((ceil_div(bytes, DiskTuning::kBlockBytes) + 1) | 1) * DiskTuning::kBlockBytes / element_bytes;
  }

  std::int64_t rows;  ///< buffered rows
  int levels;         ///< levels of windows along rows, from single pixels on
  std::int64_t strip_cols;
  std::int64_t padding;  ///< padding before a row, so that the strip's own elements are vector-aligned
  std::int64_t pitch;
};

/// window_host and window_scratch_bytes for disks, with checked arguments.
void disk_host(const Window& window, const Border& border, const ConstRegion& in, const Region& out,
               Arithmetic arithmetic, Worker& worker);
std::int64_t disk_scratch_bytes(const Window& window, Extent out, std::int64_t channels,
                                Arithmetic arithmetic);

}  // namespace sepconv
