// How window_host divides a region, and its scratch sizes; private to this folder.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/memory.hpp"
#include "kernels/sliding_window/window_check.hpp"

namespace sepconv {

struct WindowTuning {
  /// Size of the buffered rows for windows down columns. They are read sequentially and should stay in the L3
  /// cache; for sums, if such strips are too narrow, in the L2 cache.
  static constexpr std::int64_t kRingBytes = 8192 * 1024, kNarrowBytes = 384 * 1024;
  /// Minima: size of the part of these rows that is replaced by suffix minima together, in the L2 cache.
  static constexpr std::int64_t kPartBytes = 256 * 1024;
  /// Unit of a column pass: four of the widest vectors.
  static constexpr std::int64_t kBlockBytes = 256;
  /// Rows are processed in pieces that stay in the L1 cache, at least a few radii wide.
  static constexpr std::int64_t kPieceBytes = 4096, kPieceRadii = 4, kPieceUnit = 256;
  /// Minimum strip width in radii; narrower strips spend too much on the halo. Minima then use wider strips,
  /// which costs two row transfers per row. Sums would move far more: their narrow strips take turns over a
  /// group of full-width rows, and each strip has a separate buffer.
  static constexpr std::int64_t kMinRadii = 10, kSumRadii = 6;
  static constexpr std::int64_t kGroupRows = 256;
};

/// Sizes for results of up to this extent, in elements of `element_bytes`, not pixels.
struct WindowSizes {
  WindowSizes(const Window& window, Extent out, std::int64_t pixel_elements, std::int64_t element_bytes)
      : buffer_rows(window.radius_y > 0 ? 2 * window.radius_y + (window.op == Window::Op::sum ? 2 : 1) : 0),
        channels(pixel_elements),
        bytes(element_bytes) {
    const std::int64_t pixel_bytes = channels * bytes;
    const std::int64_t padded_cols = out.cols + 2 * window.radius_x;
    const bool sums = window.op == Window::Op::sum;
    const auto cols_within = [&](std::int64_t max_bytes) {
      return std::max(max_bytes / std::max<std::int64_t>(buffer_rows, 1), WindowTuning::kBlockBytes) /
             pixel_bytes;
    };
    const std::int64_t radii = sums ? WindowTuning::kSumRadii : WindowTuning::kMinRadii;
    const std::int64_t min_cols = buffer_rows > 0 ? radii * window.radius_x : 0;
    std::int64_t cache_cols = cols_within(WindowTuning::kRingBytes);
    if (sums && (cache_cols < min_cols || window.columns_first))
      cache_cols = cols_within(WindowTuning::kNarrowBytes);
    splits = sums && buffer_rows > 0 && window.radius_x > 0 &&
             (window.columns_first || cache_cols < std::min(min_cols, out.cols));
    strip_cols = buffer_rows > 0
                     ? std::min(std::max({std::int64_t{1}, cache_cols, sums ? 0 : min_cols}), padded_cols)
                     : padded_cols;
    if (!splits) strip_cols = std::min(strip_cols, std::max<std::int64_t>(out.cols, 1));
    piece_cols = round_up(
        std::max(WindowTuning::kPieceBytes / pixel_bytes, WindowTuning::kPieceRadii * window.radius_x),
        WindowTuning::kPieceUnit);
    row = padded((std::min(piece_cols, splits ? padded_cols : strip_cols) + 2 * window.radius_x) * channels);
    // An odd number of blocks, so that rows do not all map to the same sets of a cache.
    buffer_pitch = (ceil_div(strip_cols * pixel_bytes, WindowTuning::kBlockBytes) | 1) *
                   WindowTuning::kBlockBytes / bytes;
    plane_pitch = splits ? padded(padded_cols * channels) : 0;
    plane_rows = splits ? std::max(WindowTuning::kGroupRows, buffer_rows) : 0;
    strips = splits ? ceil_div(window.columns_first ? padded_cols : out.cols, strip_cols) : 1;
  }

  std::int64_t scratch_bytes(std::int64_t arithmetic_bytes) const noexcept {
    return 3 * Arena::bytes_for(row * bytes) + 2 * Arena::bytes_for(row * arithmetic_bytes) +
           Arena::bytes_for(strips * buffer_rows * buffer_pitch * bytes) +
           Arena::bytes_for(plane_rows * plane_pitch * bytes);
  }

  std::int64_t buffer_rows, channels, bytes;
  std::int64_t strip_cols;  ///< pixels
  bool splits;              ///< strips take turns, a group of rows at a time
  std::int64_t piece_cols;  ///< pixels
  std::int64_t row;         ///< of a piece with its border and space for vector accesses beyond its end
  std::int64_t buffer_pitch, plane_pitch, plane_rows;
  std::int64_t strips;  ///< number of strips with separate buffers

 private:
  std::int64_t padded(std::int64_t elements) const noexcept {
    return ((ceil_div(elements * bytes, WindowTuning::kBlockBytes) + 1) | 1) * WindowTuning::kBlockBytes /
           bytes;
  }
};

}  // namespace sepconv
