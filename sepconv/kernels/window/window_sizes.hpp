// How window_host cuts a region up, and the scratch that takes; private to this folder.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sepconv/core/memory.hpp"
#include "sepconv/kernels/window/window_check.hpp"

namespace sepconv {

struct WindowTuning {
  /// Rows that a column pass keeps should stay in a core's second cache, beside what goes by.
  static constexpr std::int64_t kRingBytes = 384 * 1024;
  /// What a column pass takes at once: four of the widest vectors.
  static constexpr std::int64_t kBlockBytes = 256;
  /// A strip narrower than so many radii spends too much on the columns beside it: then strips go through a
  /// group of rows that is as wide as they are together, and each finds its own kept rows again.
  static constexpr std::int64_t kLeastRadii = 6;
  static constexpr std::int64_t kGroupRows = 256;
};

/// For results of up to this extent, with elements of this size. Elements are counted, not pixels.
struct WindowSizes {
  WindowSizes(const Window& window, Extent out, std::int64_t pixel_elements, std::int64_t element_bytes)
      : kept_rows(2 * window.radius_y), channels(pixel_elements), bytes(element_bytes) {
    const std::int64_t pixel_bytes = channels * bytes;
    const std::int64_t wide = out.cols + 2 * window.radius_x;
    const std::int64_t fits =
        std::max(WindowTuning::kRingBytes / std::max<std::int64_t>(kept_rows, 1), WindowTuning::kBlockBytes) /
        pixel_bytes;
    strip_cols = std::max<std::int64_t>(1, std::min(kept_rows > 0 ? fits : out.cols, wide));
    const bool both = kept_rows > 0 && window.radius_x > 0;
    splits = both && (window.columns_first ||
                      (strip_cols < out.cols && strip_cols < WindowTuning::kLeastRadii * window.radius_x));
    if (!splits) strip_cols = std::min(strip_cols, std::max<std::int64_t>(out.cols, 1));
    row = padded((splits ? wide : strip_cols + 2 * window.radius_x) * channels);
    ring_pitch = round_up(strip_cols * channels * bytes, WindowTuning::kBlockBytes) / bytes;
    plane_pitch = splits ? row : 0;
    plane_rows = splits ? WindowTuning::kGroupRows : 0;
    rings = splits ? ceil_div(window.columns_first ? wide : out.cols, strip_cols) : 1;
  }

  std::int64_t scratch_bytes(std::int64_t arithmetic_bytes) const noexcept {
    return 4 * Arena::bytes_for(row * bytes) + Arena::bytes_for(row * arithmetic_bytes) +
           Arena::bytes_for(rings * kept_rows * ring_pitch * bytes) +
           Arena::bytes_for(plane_rows * plane_pitch * bytes);
  }

  std::int64_t kept_rows, channels, bytes;
  std::int64_t strip_cols;  ///< pixels
  bool splits;              ///< strips take turns, a group of rows at a time
  std::int64_t row;         ///< of a row with its border, and room for what vectors reach beyond its end
  std::int64_t ring_pitch, plane_pitch, plane_rows;
  std::int64_t rings;  ///< one a strip where they take turns

 private:
  std::int64_t padded(std::int64_t elements) const noexcept {
    return round_up(elements * bytes, WindowTuning::kBlockBytes) / bytes + WindowTuning::kBlockBytes / bytes;
  }
};

}  // namespace sepconv
