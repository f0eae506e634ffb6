// How window_host cuts a region up, and the scratch that takes; private to this folder.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/memory.hpp"
#include "kernels/sliding_window/window_check.hpp"

namespace sepconv {

struct WindowTuning {
  /// Rows that windows down columns are made of are read one after the other as they lie, and should stay in
  /// the third cache. Of sums, where such strips are too narrow, in the second.
  static constexpr std::int64_t kKeptBytes = 8192 * 1024, kNarrowBytes = 384 * 1024;
  /// Least values: the part of these rows that is turned into ends at once, in the second cache.
  static constexpr std::int64_t kPartBytes = 256 * 1024;
  /// What a column pass takes at once: four of the widest vectors.
  static constexpr std::int64_t kBlockBytes = 256;
  /// Rows go by in pieces that stay in a core's first cache, a few radii wide at least.
  static constexpr std::int64_t kPieceBytes = 4096, kPieceRadii = 4, kPieceUnit = 256;
  /// A strip narrower than this many radii spends too much on the columns next to it. Least values then take
  /// wider ones, which costs two rows moved a row. Sums would move far more: narrow strips go through a group
  /// of rows that is as wide as they are together, and each finds its own kept rows again.
  static constexpr std::int64_t kMinRadii = 10, kSumRadii = 6;
  static constexpr std::int64_t kGroupRows = 256;
};

/// For results of up to this extent, with elements of this size. Elements are counted, not pixels.
struct WindowSizes {
  WindowSizes(const Window& window, Extent out, std::int64_t pixel_elements, std::int64_t element_bytes)
      : kept_rows(window.radius_y > 0 ? 2 * window.radius_y + (window.op == Window::Op::sum ? 2 : 1) : 0),
        channels(pixel_elements),
        bytes(element_bytes) {
    const std::int64_t pixel_bytes = channels * bytes;
    const std::int64_t wide = out.cols + 2 * window.radius_x;
    const bool sums = window.op == Window::Op::sum;
    const auto fitting = [&](std::int64_t most) {
      return std::max(most / std::max<std::int64_t>(kept_rows, 1), WindowTuning::kBlockBytes) / pixel_bytes;
    };
    const std::int64_t radii = sums ? WindowTuning::kSumRadii : WindowTuning::kMinRadii;
    const std::int64_t worth = kept_rows > 0 ? radii * window.radius_x : 0;
    std::int64_t fits = fitting(WindowTuning::kKeptBytes);
    if (sums && (fits < worth || window.columns_first)) fits = fitting(WindowTuning::kNarrowBytes);
    splits = sums && kept_rows > 0 && window.radius_x > 0 &&
             (window.columns_first || fits < std::min(worth, out.cols));
    strip_cols = kept_rows > 0 ? std::min(std::max({std::int64_t{1}, fits, sums ? 0 : worth}), wide) : wide;
    if (!splits) strip_cols = std::min(strip_cols, std::max<std::int64_t>(out.cols, 1));
    piece_cols = round_up(
        std::max(WindowTuning::kPieceBytes / pixel_bytes, WindowTuning::kPieceRadii * window.radius_x),
        WindowTuning::kPieceUnit);
    row = padded((std::min(piece_cols, splits ? wide : strip_cols) + 2 * window.radius_x) * channels);
    // An odd number of blocks, so that rows do not all compete for the same places in a cache.
    kept_pitch = (ceil_div(strip_cols * pixel_bytes, WindowTuning::kBlockBytes) | 1) *
                 WindowTuning::kBlockBytes / bytes;
    plane_pitch = splits ? padded(wide * channels) : 0;
    plane_rows = splits ? std::max(WindowTuning::kGroupRows, kept_rows) : 0;
    strips = splits ? ceil_div(window.columns_first ? wide : out.cols, strip_cols) : 1;
  }

  std::int64_t scratch_bytes(std::int64_t arithmetic_bytes) const noexcept {
    return 3 * Arena::bytes_for(row * bytes) + 2 * Arena::bytes_for(row * arithmetic_bytes) +
           Arena::bytes_for(strips * kept_rows * kept_pitch * bytes) +
           Arena::bytes_for(plane_rows * plane_pitch * bytes);
  }

  std::int64_t kept_rows, channels, bytes;
  std::int64_t strip_cols;  ///< pixels
  bool splits;              ///< strips take turns, a group of rows at a time
  std::int64_t piece_cols;  ///< pixels
  std::int64_t row;         ///< of a piece with its border, and room for what vectors reach beyond its end
  std::int64_t kept_pitch, plane_pitch, plane_rows;
  std::int64_t strips;  ///< that have kept rows of their own

 private:
  std::int64_t padded(std::int64_t elements) const noexcept {
    return ((ceil_div(elements * bytes, WindowTuning::kBlockBytes) + 1) | 1) * WindowTuning::kBlockBytes /
           bytes;
  }
};

}  // namespace sepconv
