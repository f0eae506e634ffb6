// Transposition of a tile into a small buffer: in vector registers where the element has a lane's size, a few
// long rows or columns by the interleaving of vectors, anything else element by element. Included once per
// target.
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

#include "sepconv/kernels/simd/dispatch.hpp"

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// `rows` x `cols` elements to transpose. Row k begins `offset` bytes after rows_data[k] and becomes column k
/// of `staged`, whose rows are `staged_pitch` bytes apart.
struct Tile {
  const std::byte* const* rows_data = nullptr;
  std::int64_t offset = 0;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t element_bytes = 1;
  std::byte* staged = nullptr;
  std::int64_t staged_pitch = 0;
  bool to_memory =
      false;  ///< `staged` is the result itself: lines that begin with a line, to be stored around the caches
  std::int64_t next_bytes = 0;  ///< of each row after the tile's that will be wanted next

  const std::byte* row(std::int64_t k) const { return rows_data[k] + offset; }
};
/// Asks for what the next tile reads of these rows: a processor foresees one row after another, but not a few
/// lines of each.
HWY_INLINE void prefetch_next(const Tile& tile, std::int64_t first, std::int64_t rows, std::int64_t bytes) {
  for (std::int64_t row = first; row < first + rows; ++row) {
    const std::byte* const next = tile.row(row) + tile.cols * bytes;
    for (std::int64_t at = 0; at < tile.next_bytes; at += 64) hwy::Prefetch(next + at);
  }
}

/// A few rows of a tile side by side: in the caller's memory they may share the few places of a cache that
/// their distance, often a power of two, leaves them.
struct Packed {
  static constexpr std::int64_t kRun = 256;
  static constexpr std::int64_t kPitch = kRun + 64;
  alignas(64) std::byte bytes[64 * kPitch];

  /// Rows [first, first + rows), `count` bytes from `begin` on, kRun at most.
  HWY_INLINE void load(const Tile& tile, std::int64_t first, std::int64_t rows, std::int64_t begin,
                       std::int64_t count) {
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::byte* const from = tile.row(first + row) + begin;
      if (count == kRun) {
        std::memcpy(bytes + row * kPitch, from, kRun);
      } else {
        std::memcpy(bytes + row * kPitch, from, std::size_t(count));
      }
    }
  }
};

using StageTile = void (*)(const Tile&);

/// Copies an element of kBytes bytes; if kBytes is 0, of `bytes`, which are from kWord to twice as many, by
/// two words that overlap.
template <int kWord, int kBytes>
HWY_INLINE void copy_element(const std::byte* from, std::int64_t bytes, std::byte* to) {
  if constexpr (kBytes > 0) {
    std::memcpy(to, from, kBytes);
  } else {
    std::memcpy(to, from, kWord);
    std::memcpy(to + bytes - kWord, from + bytes - kWord, kWord);
  }
}

/// Rows [first, first + kRows) of the tile, few enough for the ways of a cache.
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

/// Few columns: along the rows.
template <int kWord, int kBytes>
void stage_columns(const Tile& tile, std::int64_t bytes) {
  for (std::int64_t col = 0; col < tile.cols; ++col) {
    std::byte* to = tile.staged + col * tile.staged_pitch;
    const std::byte* const* row = tile.rows_data;
    const std::byte* const* const end = row + tile.rows;
    const std::int64_t offset = tile.offset + col * bytes;
    for (; row < end; ++row, to += bytes) copy_element<kWord, kBytes>(*row + offset, bytes, to);
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

#if HWY_TARGET != HWY_SCALAR

/// The 16 bytes that are block k of each vector begin k * apart packed rows after `from`.
template <class D>
HWY_INLINE hn::Vec<D> load_blocks(D d, const std::byte* from, std::int64_t apart) {
  using T = hn::TFromD<D>;
  if constexpr (hn::MaxLanes(D()) * sizeof(T) <= 16) {
    return hn::Load(d, reinterpret_cast<const T*>(from));
  } else {
    const hn::Half<D> half;
    const auto halves = std::int64_t(hn::MaxLanes(half) * sizeof(T) / 16);
    return hn::Combine(d, load_blocks(half, from + halves * apart * Packed::kPitch, apart),
                       load_blocks(half, from, apart));
  }
}

/// As many columns as 16 bytes hold; of rows as many as a vector's lanes. Each 16-byte block of the vectors
/// holds a square that lies apart in rows; log2 of its side shuffles within blocks, the same for all,
/// transpose it and leave whole columns in the vectors.
template <bool kStream, class D>
HWY_INLINE void stage_block(D d, const std::byte* from, std::byte* to, std::int64_t to_pitch) {
  using T = hn::TFromD<D>;
  constexpr int kSide = int(16 / sizeof(T));
  hn::Vec<D> v[kSide];
  hn::Vec<D> w[kSide];
  SEPCONV_UNROLL
  for (int i = 0; i < kSide; ++i) v[i] = load_blocks(d, from + i * Packed::kPitch, kSide);
  SEPCONV_UNROLL
  for (int step = 1; step < kSide; step *= 2) {
    SEPCONV_UNROLL
    for (int i = 0; i < kSide / 2; ++i) {
      w[2 * i] = hn::InterleaveLower(d, v[i], v[i + kSide / 2]);
      w[2 * i + 1] = hn::InterleaveUpper(d, v[i], v[i + kSide / 2]);
    }
    SEPCONV_UNROLL
    for (int i = 0; i < kSide; ++i) v[i] = w[i];
  }
  SEPCONV_UNROLL
  for (int i = 0; i < kSide; ++i) {
    T* const row = reinterpret_cast<T*>(to + i * to_pitch);
    if constexpr (kStream) {
      hn::Stream(v[i], d, row);
    } else {
      hn::StoreU(v[i], d, row);
    }
  }
}

/// By blocks, of which the last of rows and of columns overlap those before. Both must be as many as a block
/// has.
template <bool kStream, class D>
void stage_blocks(D d, const Tile& tile) {
  constexpr auto kBytes = std::int64_t(sizeof(hn::TFromD<D>));
  const auto lanes = std::int64_t(hn::Lanes(d));
  const std::int64_t row_bytes = tile.cols * kBytes;
  const std::int64_t run = std::min(row_bytes, Packed::kRun);
  Packed packed;
  for (std::int64_t next = 0; next < tile.rows; next += lanes) {
    const std::int64_t row = std::min(next, tile.rows - lanes);
    prefetch_next(tile, row, lanes, kBytes);
    for (std::int64_t next_run = 0; next_run < row_bytes; next_run += run) {
      const std::int64_t begin = std::min(next_run, row_bytes - run);
      packed.load(tile, row, lanes, begin, run);
      std::byte* const to = tile.staged + begin / kBytes * tile.staged_pitch + row * kBytes;
      for (std::int64_t at = 0; at + 16 <= run; at += 16) {
        stage_block<kStream>(d, packed.bytes + at, to + at / kBytes * tile.staged_pitch, tile.staged_pitch);
      }
      if (run % 16 != 0) {
        packed.load(tile, row, lanes, begin + run - 16, 16);
        stage_block<kStream>(d, packed.bytes, to + (run - 16) / kBytes * tile.staged_pitch,
                             tile.staged_pitch);
      }
    }
  }
}

template <class T>
void stage_vectors(const Tile& tile) {
  const hn::ScalableTag<T> whole;
  const hn::FixedTag<T, 16 / sizeof(T)> block;
  const auto side = std::int64_t(hn::Lanes(block));
  if (tile.cols < side || tile.rows < side) {
    stage_elements<sizeof(T), sizeof(T)>(tile);
  } else if (tile.rows < std::int64_t(hn::Lanes(whole))) {
    stage_blocks<false>(block, tile);
  } else if (tile.to_memory) {
    stage_blocks<true>(whole, tile);
  } else {
    stage_blocks<false>(whole, tile);
  }
}

/// Two to four columns without a gap between the rows: pixels into planes.
template <class T, int kCols>
void stage_planes(const Tile& tile) {
  constexpr auto kBytes = std::int64_t(sizeof(T));
  const hn::ScalableTag<T> d;
  const auto lanes = std::int64_t(hn::Lanes(d));
  const auto* from = reinterpret_cast<const T*>(tile.row(0));
  T* to[4] = {};
  for (int col = 0; col < kCols; ++col) to[col] = reinterpret_cast<T*>(tile.staged + col * tile.staged_pitch);
  std::int64_t row = 0;
  for (; row + lanes <= tile.rows; row += lanes) {
    hn::Vec<decltype(d)> v0, v1, v2, v3;
    if constexpr (kCols == 2) hn::LoadInterleaved2(d, from + row * 2, v0, v1);
    if constexpr (kCols == 3) hn::LoadInterleaved3(d, from + row * 3, v0, v1, v2);
    if constexpr (kCols == 4) hn::LoadInterleaved4(d, from + row * 4, v0, v1, v2, v3);
    hn::StoreU(v0, d, to[0] + row);
    hn::StoreU(v1, d, to[1] + row);
    if constexpr (kCols > 2) hn::StoreU(v2, d, to[2] + row);
    if constexpr (kCols > 3) hn::StoreU(v3, d, to[3] + row);
  }
  for (; row < tile.rows; ++row) {
    for (int col = 0; col < kCols; ++col) {
      copy_element<sizeof(T), sizeof(T)>(tile.row(0) + (row * kCols + col) * kBytes, kBytes,
                                         tile.staged + col * tile.staged_pitch + row * kBytes);
    }
  }
}

/// Two to four rows, of which no gap is left in the result: planes into pixels.
template <class T, int kRows>
void stage_pixels(const Tile& tile) {
  constexpr auto kBytes = std::int64_t(sizeof(T));
  const hn::ScalableTag<T> d;
  const auto lanes = std::int64_t(hn::Lanes(d));
  const T* from[4] = {};
  for (int row = 0; row < kRows; ++row) from[row] = reinterpret_cast<const T*>(tile.row(row));
  T* const to = reinterpret_cast<T*>(tile.staged);
  std::int64_t col = 0;
  for (; col + lanes <= tile.cols; col += lanes) {
    const auto v0 = hn::LoadU(d, from[0] + col);
    const auto v1 = hn::LoadU(d, from[1] + col);
    const auto v2 = kRows > 2 ? hn::LoadU(d, from[kRows > 2 ? 2 : 0] + col) : v0;
    const auto v3 = kRows > 3 ? hn::LoadU(d, from[kRows > 3 ? 3 : 0] + col) : v0;
    if constexpr (kRows == 2) hn::StoreInterleaved2(v0, v1, d, to + col * 2);
    if constexpr (kRows == 3) hn::StoreInterleaved3(v0, v1, v2, d, to + col * 3);
    if constexpr (kRows == 4) hn::StoreInterleaved4(v0, v1, v2, v3, d, to + col * 4);
  }
  for (; col < tile.cols; ++col) {
    for (int row = 0; row < kRows; ++row) {
      copy_element<sizeof(T), sizeof(T)>(tile.row(row) + col * kBytes, kBytes,
                                         tile.staged + (col * kRows + row) * kBytes);
    }
  }
}

#endif  // HWY_SCALAR

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // SEPCONV_TRANSPOSE_TILE_INL_H
