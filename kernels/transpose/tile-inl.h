// A tile that is transposed into a small buffer, its transposition element by element, and the stores of the
// result. Included once per Highway target.
#if defined(SEPCONV_TRANSPOSE_TILE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SEPCONV_TRANSPOSE_TILE_INL_H
#undef SEPCONV_TRANSPOSE_TILE_INL_H
#else
#define SEPCONV_TRANSPOSE_TILE_INL_H
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kernels/simd/dispatch.hpp"
#include "kernels/transpose/strided_matrix.hpp"

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Tuning = HostTransposeTuning;

/// `rows` x `cols` elements to transpose. Row k begins `offset` bytes after rows_data[k] and becomes column k
/// of `staged`, whose rows are `staged_pitch` bytes apart.
struct Tile {
  const std::byte* const* rows_data = nullptr;
  std::int64_t in_pitch = 0;  ///< if not 0: bytes of a row; the rows are contiguous from rows_data[0]
  std::int64_t offset = 0;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t element_bytes = 1;
  std::byte* staged = nullptr;
  std::int64_t staged_pitch = 0;
  bool to_memory =
      false;  ///< `staged` is the result itself; its rows are whole cache lines, stored non-temporally
  std::int64_t next_bytes = 0;  ///< bytes of each row after the tile that the next tile reads

  const std::byte* row(std::int64_t k) const {
    return (in_pitch != 0 ? rows_data[0] + k * in_pitch : rows_data[k]) + offset;
  }
};

/// Prefetches the next tile's part of these rows: hardware prefetchers detect sequential rows, but not a few
/// lines of each row.
HWY_INLINE void prefetch_next(const Tile& tile, std::int64_t first, std::int64_t rows, std::int64_t bytes) {
  for (std::int64_t row = first; row < first + rows; ++row) {
    const std::byte* const next = tile.row(row) + tile.cols * bytes;
    for (std::int64_t at = 0; at < tile.next_bytes; at += 64) hwy::Prefetch(next + at);
  }
}

using StageTile = void (*)(const Tile&);

/// Copies an element of kBytes bytes. If kBytes is 0, copies `bytes` (kWord to 2 * kWord) as two overlapping
/// words.
template <int kWord, int kBytes>
HWY_INLINE void copy_element(const std::byte* from, std::int64_t bytes, std::byte* to) {
  if constexpr (kBytes > 0) {
    std::memcpy(to, from, kBytes);
  } else {
    std::memcpy(to, from, kWord);
    std::memcpy(to + bytes - kWord, from + bytes - kWord, kWord);
  }
}

/// Copies kWord bytes or more; the last word overlaps its predecessor. memcpy with a small variable size
/// compiles to much slower code.
template <int kWord>
HWY_INLINE void copy_words(const std::byte* from, std::int64_t bytes, std::byte* to) {
  for (std::int64_t at = 0; at < bytes - kWord; at += kWord) std::memcpy(to + at, from + at, kWord);
  std::memcpy(to + bytes - kWord, from + bytes - kWord, kWord);
}

/// Copies up to a few hundred bytes.
HWY_INLINE void copy_some(const std::byte* from, std::int64_t bytes, std::byte* to) {
  if (bytes >= 32) return copy_words<32>(from, bytes, to);
  if (bytes >= 16) return copy_words<16>(from, bytes, to);
  if (bytes >= 8) return copy_words<8>(from, bytes, to);
  if (bytes >= 4) return copy_words<4>(from, bytes, to);
  if (bytes >= 2) return copy_words<2>(from, bytes, to);
  if (bytes == 1) *to = *from;
}

/// Transposes rows [first, first + kRows): few enough for the associativity of the cache.
template <int kWord, int kBytes, int kRows>
HWY_INLINE void stage_rows(const Tile& tile, std::int64_t first, std::int64_t bytes) {
  prefetch_next(tile, first, kRows, bytes);
  const std::byte* from[kRows];
  SEPCONV_UNROLL
  for (int row = 0; row < kRows; ++row) from[row] = tile.row(first + row);
  std::byte* to = tile.staged + first * bytes;
  const std::int64_t pitch = tile.staged_pitch;
  const std::int64_t end = tile.cols * bytes;
  for (std::int64_t at = 0; at < end; at += bytes, to += pitch) {
    SEPCONV_UNROLL
    for (int row = 0; row < kRows; ++row)
      copy_element<kWord, kBytes>(from[row] + at, bytes, to + row * bytes);
  }
}

/// For few columns: loops along the rows.
template <int kWord, int kBytes>
void stage_columns(const Tile& tile, std::int64_t bytes) {
  for (std::int64_t col = 0; col < tile.cols; ++col) {
    std::byte* to = tile.staged + col * tile.staged_pitch;
    for (std::int64_t row = 0; row < tile.rows; ++row, to += bytes)
      copy_element<kWord, kBytes>(tile.row(row) + col * bytes, bytes, to);
  }
}

template <int kWord, int kBytes>
void stage_elements(const Tile& tile) {
  const std::int64_t bytes = kBytes > 0 ? kBytes : tile.element_bytes;
  if (tile.cols < 8) return stage_columns<kWord, kBytes>(tile, bytes);
  std::int64_t row = 0;
  for (; row + 8 <= tile.rows; row += 8) stage_rows<kWord, kBytes, 8>(tile, row, bytes);
  for (; row < tile.rows; ++row) stage_rows<kWord, kBytes, 1>(tile, row, bytes);
}

inline void stage_large_elements(const Tile& tile) {
  for (std::int64_t col = 0; col < tile.cols; ++col) {
    for (std::int64_t row = 0; row < tile.rows; ++row) {
      std::memcpy(tile.staged + col * tile.staged_pitch + row * tile.element_bytes,
                  tile.row(row) + col * tile.element_bytes, std::size_t(tile.element_bytes));
    }
  }
}

inline StageTile stage_elements_of(std::int64_t bytes) {
  switch (bytes) {
    case 1:
      return stage_elements<1, 1>;
    case 2:
      return stage_elements<2, 2>;
    case 4:
      return stage_elements<4, 4>;
    case 8:
      return stage_elements<8, 8>;
    case 3:
      return stage_elements<2, 3>;
    case 6:
      return stage_elements<4, 6>;
    case 12:
      return stage_elements<8, 12>;
    case 16:
      return stage_elements<16, 16>;
    default:
      break;
  }
  if (bytes < 4) return stage_elements<2, 0>;
  if (bytes < 8) return stage_elements<4, 0>;
  if (bytes < 16) return stage_elements<8, 0>;
  if (bytes <= 32) return stage_elements<16, 0>;
  if (bytes <= 64) return stage_elements<32, 0>;
  return stage_large_elements;
}

/// Bytes from `to` to the next cache line.
HWY_INLINE std::int64_t to_line(const std::byte* to) {
  return -std::int64_t(reinterpret_cast<std::uintptr_t>(to)) & (Tuning::kLine - 1);
}

/// Copies with non-temporal stores for the whole cache lines of `to`.
HWY_INLINE void store_past_caches(const std::byte* from, std::int64_t bytes, std::byte* to) {
  const hn::ScalableTag<std::uint8_t> d;
  const auto lanes = std::int64_t(hn::Lanes(d));
  const std::int64_t head = std::min(bytes, to_line(to));
  copy_some(from, head, to);
  std::int64_t i = head;
  for (; i + Tuning::kLine <= bytes; i += Tuning::kLine) {
    for (std::int64_t k = 0; k < Tuning::kLine; k += lanes) {
      hn::Stream(hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(from + i + k)), d,
                 reinterpret_cast<std::uint8_t*>(to + i + k));
    }
  }
  copy_some(from + i, bytes - i, to + i);
}

HWY_INLINE void store_bytes(const std::byte* from, std::int64_t bytes, std::byte* to, bool past_caches) {
  if (past_caches) {
    store_past_caches(from, bytes, to);
  } else {
    std::memcpy(to, from, std::size_t(bytes));
  }
}

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // SEPCONV_TRANSPOSE_TILE_INL_H
