// Least and greatest values of disks, by their chords; private to this folder. The window's shape is
// Window::Shape::disk in all of this.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "core/memory.hpp"
#include "kernels/sliding_window/window_check.hpp"

namespace sepconv {

/// Whether the pixel `down` and `right` of the middle one is of the disk. With a radius of 0 it is a line.
inline bool disk_has(const Window& window, std::int64_t down, std::int64_t right) noexcept {
  const auto square = [](std::int64_t value) { return value * value; };
  const std::int64_t x = window.radius_x, y = window.radius_y;
  return std::abs(right) <= x && std::abs(down) <= y && square(right * y) + square(down * x) <= square(x * y);
}

/// A row of a disk: the pixels up to `half` on each side of the middle column, as two windows of 2^level of
/// them that may overlap.
struct Chord {
  std::int64_t half;
  int level;

  /// Where they begin, from the first of the columns that the widest chord has.
  std::int64_t first(std::int64_t radius_x) const noexcept { return radius_x - half; }
  std::int64_t second(std::int64_t radius_x) const noexcept {
    return radius_x + half + 1 - (std::int64_t{1} << level);
  }
};

inline Chord chord_of(const Window& window, std::int64_t down) noexcept {
  const double part =
      window.radius_y == 0 ? 0 : static_cast<double>(down) / static_cast<double>(window.radius_y);
  std::int64_t half = std::llround(static_cast<double>(window.radius_x) * std::sqrt(1 - part * part));
  while (!disk_has(window, down, half)) --half;
  while (disk_has(window, down, half + 1)) ++half;
  return {half, WindowSteps(2 * half + 1).levels};
}

struct DiskTuning {
  /// What a strip's rows of one level take: what is read again for each row of the result.
  static constexpr std::int64_t kLevelBytes = 128 * 1024;
  /// A strip narrower than this many radii spends too much on the columns next to it.
  static constexpr std::int64_t kRadii = 4;
  /// What is made of all chords at once: four of the widest vectors.
  static constexpr std::int64_t kBlockBytes = 256;
};

/// How disk_host cuts results of up to this extent into strips. Elements are counted, not pixels.
struct DiskSizes {
  DiskSizes(const Window& window, Extent out, std::int64_t channels, std::int64_t element_bytes)
      : rows(2 * window.radius_y + 1), levels(WindowSteps(2 * window.radius_x + 1).levels + 1) {
    const std::int64_t fits = DiskTuning::kLevelBytes / (rows * channels * element_bytes);
    const std::int64_t worth = DiskTuning::kRadii * window.radius_x;
    strip_cols = std::clamp(std::max(fits, worth), std::int64_t{1}, std::max<std::int64_t>(out.cols, 1));
    // An odd number of blocks, so that rows do not all compete for the same places in a cache; and one that
    // vectors reach into beyond a row's end.
    const std::int64_t block = DiskTuning::kBlockBytes / element_bytes;
    lead = round_up(window.radius_x * channels, block) - window.radius_x * channels;
    const std::int64_t bytes = (lead + (strip_cols + 2 * window.radius_x) * channels) * element_bytes;
    pitch = ((ceil_div(bytes, DiskTuning::kBlockBytes) + 1) | 1) * DiskTuning::kBlockBytes / element_bytes;
  }

  std::int64_t rows;  ///< that are kept
  int levels;         ///< of windows along them, from single pixels on
  std::int64_t strip_cols;
  std::int64_t lead;  ///< before a row's first, so that the strip's own begin where a vector does
  std::int64_t pitch;
};

/// What window_host and window_scratch_bytes are for these windows, and the arguments that they have checked.
void disk_host(const Window& window, const Border& border, const ConstRegion& in, const Region& out,
               Arithmetic arithmetic, Worker& worker);
std::int64_t disk_scratch_bytes(const Window& window, Extent out, std::int64_t channels,
                                Arithmetic arithmetic);

}  // namespace sepconv
