// How convolve_host divides a region into strips and lays out its scratch; private to this folder.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/memory.hpp"
#include "kernels/conv/conv.hpp"

namespace sepconv {

/// Tuning of convolve_host. Measured by bench conv --device cpu and tests/peers/conv.py.
struct ConvTuning {
  /// Maximum output rows that one call of the column pass computes.
  static constexpr std::int64_t kRowsPerBlock = 8;
  /// A ring of filtered rows this large stays in the L1 cache...
  static constexpr std::int64_t kFirstCacheBytes = 24 << 10;
  /// ... but memory is fast only along rows of at least this length, ...
  static constexpr std::int64_t kUsefulElements = 2048;
  /// ... unless the ring would leave the L2 cache, ...
  static constexpr std::int64_t kSecondCacheBytes = 512 << 10;
  /// ... down to strips of a few vectors.
  static constexpr std::int64_t kMinElements = 128;
  /// Minimum ratio of a strip's columns to its halo when columns are filtered first.
  static constexpr std::int64_t kHaloFactor = 8;
  /// Prefetch distance in source rows.
  static constexpr std::int64_t kPrefetchRows = 4;
  /// Elements that a kernel may access beyond a scratch row's end: the widest vector.
  static constexpr std::int64_t kSlackElements = 16;
};

/// Whether the pixels are aligned to their element size.
inline bool has_elements(const Region& out) {
  return reinterpret_cast<std::uintptr_t>(out.pixels.data) %
             static_cast<std::uintptr_t>(size_of(out.pixels.type)) ==
         0;
}

/// Whether the column pass writes `out` past the caches: if nothing is converted and cache lines begin at the
/// same columns in all rows.
inline bool stores_past_caches(const Region& out, PixelType arithmetic) {
  return out.past_caches && out.pixels.type == arithmetic && has_elements(out) &&
         out.pixels.pitch_bytes % kAlignment == 0;
}

/// Sizes of convolve_host's scratch for column strips of an output. All grow with the output's extent, so
/// scratch sized for a tile suffices for the smaller tiles at an image's edges.
struct StripLayout {
  std::int64_t strip_cols = 0;   ///< output columns of a strip; the last strip may have fewer
  std::int64_t window_rows = 0;  ///< rows under the column taps of a block of output rows
  std::int64_t ring_rows = 0;    ///< filtered rows in the ring
  std::int64_t ring_pitch = 0;   ///< elements from ring row to ring row
  std::int64_t padded_elements =
      0;  ///< of a source row with its border or halo; of a block of rows if columns_first

  StripLayout(const SeparableTaps& taps, Extent out, Extent image, std::int64_t channels,
              std::int64_t element_bytes) {
    std::int64_t max_cols = max_strip_cols(taps, channels, element_bytes);
    // Columns first: the halo's columns are filtered again for each strip.
    if (taps.columns_first) max_cols = std::max(max_cols, ConvTuning::kHaloFactor * taps.row_radius());
    // kAlignment pixels of any size fill whole cache lines, so all strips have the alignment of the first.
    const std::int64_t unit = max_cols >= kAlignment ? kAlignment : 1;
    max_cols = std::min(out.cols, max_cols / unit * unit);
    strip_cols = std::min(round_up(ceil_div(out.cols, ceil_div(out.cols, max_cols)), unit),
                          out.cols);  // of about equal width
    window_rows = 2 * taps.col_radius() + std::min(ConvTuning::kRowsPerBlock, out.rows);
    ring_rows = std::min(window_rows, image.rows);
    padded_elements = (max_cols + 2 * taps.row_radius()) * channels + ConvTuning::kSlackElements;
    if (taps.columns_first) {
      ring_pitch = odd_cache_lines(padded_elements, element_bytes);
      padded_elements = ring_pitch * std::min(ConvTuning::kRowsPerBlock, out.rows);
    } else {
      ring_pitch = odd_cache_lines(max_cols * channels + ConvTuning::kSlackElements, element_bytes);
    }
  }

  /// Total arena bytes of a convolution.
  std::int64_t scratch_bytes(const SeparableTaps& taps, std::int64_t element_bytes) const noexcept {
    const auto bytes = [=](std::int64_t count) { return Arena::bytes_for(count * element_bytes); };
    return bytes(static_cast<std::int64_t>(taps.row.size())) +
           bytes(static_cast<std::int64_t>(taps.col.size())) + bytes(padded_elements) +
           bytes(ring_rows * ring_pitch) + (taps.columns_first ? 2 : 1) * bytes(ring_pitch) +
           Arena::bytes_for(window_rows * static_cast<std::int64_t>(sizeof(void*)));
  }

 private:
  static std::int64_t max_strip_cols(const SeparableTaps& taps, std::int64_t channels,
                                     std::int64_t element_bytes) {
    using Tuning = ConvTuning;
    const std::int64_t column_bytes = (2 * taps.col_radius() + Tuning::kRowsPerBlock) * element_bytes;
    const std::int64_t first_cache =
        std::max(Tuning::kFirstCacheBytes / column_bytes, Tuning::kUsefulElements);
    const std::int64_t second_cache =
        std::max(Tuning::kSecondCacheBytes / column_bytes, Tuning::kMinElements);
    return std::max<std::int64_t>(1, std::min(first_cache, second_cache) / channels);
  }

  /// A pitch of an odd number of cache lines spreads the rows of a column over all sets of the cache.
  static std::int64_t odd_cache_lines(std::int64_t elements, std::int64_t element_bytes) noexcept {
    return (ceil_div(elements * element_bytes, kAlignment) | 1) * kAlignment / element_bytes;
  }
};

}  // namespace sepconv
