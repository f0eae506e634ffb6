// How convolve_host cuts a region and lays out its scratch; private to this folder.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sepconv/core/memory.hpp"
#include "sepconv/kernels/conv/conv.hpp"

namespace sepconv {

/// Tuning of convolve_host. Measured by tests/peers/conv_memory.
struct ConvTuning {
  /// Rows of output that one march of the column pass computes from each row of the ring, at most.
  static constexpr std::int64_t kRowsPerBlock = 8;
  /// A ring of filtered rows this large stays in the L1 cache...
  static constexpr std::int64_t kFirstCacheBytes = 24 << 10;
  /// ... but memory streams only along rows so long, ...
  static constexpr std::int64_t kUsefulElements = 4096;
  /// ... unless the ring would leave the L2 cache, ...
  static constexpr std::int64_t kSecondCacheBytes = 512 << 10;
  /// ... down to strips of a few vectors.
  static constexpr std::int64_t kLeastElements = 128;
  /// Columns of a strip for each of its halo, when columns are filtered first.
  static constexpr std::int64_t kHaloFactor = 8;
  /// Source rows from a row being asked for to its being filtered.
  static constexpr std::int64_t kPrefetchRows = 8;
  /// A row pass of so many taps of single-channel f32 arithmetic goes by the comb (comb-inl.h), ...
  static constexpr std::int64_t kCombTaps = 21;
  /// ... which rounds rows up to multiples of the widest vector's lanes squared.
  static constexpr std::int64_t kCombElements = 256;
  /// Elements that a kernel may touch beyond a scratch row's end: the widest vector's worth.
  static constexpr std::int64_t kSlackElements = 16;
};

/// Upper bounds of a comb's scratch, for vectors of any width, for rows of up to `count` elements.
struct CombLayout {
  std::int64_t row_elements = 0;  ///< that it may read, halo included
  std::int64_t spread_elements = 0, sums_elements = 0;
  std::int64_t window_rows = 0;

  static bool is_for(std::int64_t taps, std::int64_t channels, std::int64_t element_bytes) {
    return taps >= ConvTuning::kCombTaps && channels == 1 && element_bytes == 4;
  }

  CombLayout(std::int64_t count, std::int64_t taps) {
    constexpr std::int64_t kRows = 2, kSide = 4, kMostLanes = 16, kLeastLanes = 4;  // rows side by side, and floats
    const std::int64_t rounded = round_up(count, ConvTuning::kCombElements);
    row_elements = rounded + taps - 1 + kSide;
    spread_elements = kRows * (rounded + kMostLanes * (taps - 1 + kSide));
    sums_elements = kRows * rounded;
    window_rows = rounded / kLeastLanes + taps - 1;
  }

  std::int64_t scratch_bytes() const noexcept {
    constexpr std::int64_t kFloat = sizeof(float);
    return Arena::bytes_for(spread_elements * kFloat) + Arena::bytes_for(sums_elements * kFloat) +
           Arena::bytes_for(window_rows * static_cast<std::int64_t>(sizeof(void*)));
  }
};

/// Sizes of convolve_host's scratch for column strips of an output. All grow with the output's extent, so
/// that scratch sized for a tile also does for the smaller tiles at an image's edges.
struct StripLayout {
  std::int64_t strip_cols = 0;       ///< columns of output in a strip; the last strip may have fewer
  std::int64_t window_rows = 0;      ///< rows under the column taps of a block of output rows
  std::int64_t ring_rows = 0;        ///< filtered rows kept
  std::int64_t ring_pitch = 0;       ///< elements from ring row to ring row
  std::int64_t padded_elements = 0;  ///< of a source row with its border or halo on both sides; with columns_first of a block of rows
  std::int64_t comb_bytes = 0;

  StripLayout(const SeparableTaps& taps, Extent out, Extent image, std::int64_t channels,
              std::int64_t element_bytes) {
    std::int64_t most_cols = most_strip_cols(taps, channels, element_bytes);
    // Columns first: those of the halo are filtered for each strip anew.
    if (taps.columns_first) most_cols = std::max(most_cols, ConvTuning::kHaloFactor * taps.row_radius());
    const auto row_taps = static_cast<std::int64_t>(taps.row.size());
    const bool has_comb = !taps.columns_first && CombLayout::is_for(row_taps, channels, element_bytes);
    const std::int64_t unit = has_comb ? ConvTuning::kCombElements : 1;
    most_cols = std::min(out.cols, std::max(unit, most_cols / unit * unit));
    strip_cols = std::min(round_up(ceil_div(out.cols, ceil_div(out.cols, most_cols)), unit), out.cols);  // strips of about equal width
    window_rows = 2 * taps.col_radius() + std::min(ConvTuning::kRowsPerBlock, out.rows);
    ring_rows = std::min(window_rows, image.rows);
    padded_elements = (most_cols + 2 * taps.row_radius()) * channels + ConvTuning::kSlackElements;
    if (taps.columns_first) {
      ring_pitch = odd_cache_lines(padded_elements, element_bytes);
      padded_elements = ring_pitch * std::min(ConvTuning::kRowsPerBlock, out.rows);
    } else {
      std::int64_t row_elements = most_cols * channels;
      if (has_comb) {
        const CombLayout comb(row_elements, row_taps);
        row_elements = round_up(row_elements, ConvTuning::kCombElements);
        padded_elements = std::max(padded_elements, comb.row_elements);
        comb_bytes = comb.scratch_bytes();
      }
      ring_pitch = odd_cache_lines(row_elements + ConvTuning::kSlackElements, element_bytes);
    }
  }

  /// Arena bytes for everything that a convolution takes.
  std::int64_t scratch_bytes(const SeparableTaps& taps, std::int64_t element_bytes) const noexcept {
    const auto bytes = [=](std::int64_t count) { return Arena::bytes_for(count * element_bytes); };
    return bytes(static_cast<std::int64_t>(taps.row.size())) +
           bytes(static_cast<std::int64_t>(taps.col.size())) + bytes(padded_elements) +
           bytes(ring_rows * ring_pitch) + (taps.columns_first ? 2 : 1) * bytes(ring_pitch) +
           Arena::bytes_for(window_rows * static_cast<std::int64_t>(sizeof(void*))) + comb_bytes;
  }

 private:
  static std::int64_t most_strip_cols(const SeparableTaps& taps, std::int64_t channels,
                                      std::int64_t element_bytes) {
    using Tuning = ConvTuning;
    const std::int64_t column_bytes = (2 * taps.col_radius() + Tuning::kRowsPerBlock) * element_bytes;
    const std::int64_t first_cache =
        std::max(Tuning::kFirstCacheBytes / column_bytes, Tuning::kUsefulElements);
    const std::int64_t second_cache =
        std::max(Tuning::kSecondCacheBytes / column_bytes, Tuning::kLeastElements);
    return std::max<std::int64_t>(1, std::min(first_cache, second_cache) / channels);
  }

  /// A pitch of an odd number of cache lines spreads the rows of a column over all sets of the cache.
  static std::int64_t odd_cache_lines(std::int64_t elements, std::int64_t element_bytes) noexcept {
    return (ceil_div(elements * element_bytes, kAlignment) | 1) * kAlignment / element_bytes;
  }
};

}  // namespace sepconv
