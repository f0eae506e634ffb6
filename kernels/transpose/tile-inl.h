// Transposition of a tile into a small buffer: in vector registers where the element has a lane's size, a few
// long rows or columns by the interleaving of vectors, anything else element by element. Included once per
// target.
#if defined(SEPCONV_TRANSPOSE_TILE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SEPCONV_TRANSPOSE_TILE_INL_H
#undef SEPCONV_TRANSPOSE_TILE_INL_H
#else
#define SEPCONV_TRANSPOSE_TILE_INL_H
#endif

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

  const std::byte* row(std::int64_t k) const { return rows_data[k] + offset; }
};
using StageTile = void (*)(const Tile&);

/// Copies an element of kWord bytes, or of up to twice as many by two words that overlap.
template <int kWord, bool kWhole>
HWY_INLINE void copy_element(const std::byte* from, std::int64_t bytes, std::byte* to) {
  std::memcpy(to, from, kWord);
  if constexpr (!kWhole) std::memcpy(to + bytes - kWord, from + bytes - kWord, kWord);
}

template <int kWord, bool kWhole>
void stage_elements(const Tile& tile) {
  const std::int64_t bytes = kWhole ? kWord : tile.element_bytes;
  if (tile.rows >= tile.cols) {
    for (std::int64_t col = 0; col < tile.cols; ++col) {
      std::byte* const to = tile.staged + col * tile.staged_pitch;
      for (std::int64_t row = 0; row < tile.rows; ++row) {
        copy_element<kWord, kWhole>(tile.row(row) + col * bytes, bytes, to + row * bytes);
      }
    }
  } else {
    for (std::int64_t row = 0; row < tile.rows; ++row) {
      const std::byte* const from = tile.row(row);
      std::byte* const to = tile.staged + row * bytes;
      for (std::int64_t col = 0; col < tile.cols; ++col) {
        copy_element<kWord, kWhole>(from + col * bytes, bytes, to + col * tile.staged_pitch);
      }
    }
  }
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
      return stage_elements<1, true>;
    case 2:
      return stage_elements<2, true>;
    case 4:
      return stage_elements<4, true>;
    case 8:
      return stage_elements<8, true>;
    case 16:
      return stage_elements<16, true>;
    default:
      break;
  }
  if (bytes < 4) return stage_elements<2, false>;
  if (bytes < 8) return stage_elements<4, false>;
  if (bytes < 16) return stage_elements<8, false>;
  if (bytes <= 32) return stage_elements<16, false>;
  if (bytes <= 64) return stage_elements<32, false>;
  return stage_large_elements;
}

#if HWY_TARGET != HWY_SCALAR

/// The 16 bytes that are block `block` of each vector come from row first + block * apart.
template <class D>
HWY_INLINE hn::Vec<D> load_blocks(D d, const Tile& tile, std::int64_t first, std::int64_t apart,
                                  std::int64_t bytes) {
  using T = hn::TFromD<D>;
  if constexpr (hn::MaxLanes(D()) * sizeof(T) <= 16) {
    return hn::LoadU(d, reinterpret_cast<const T*>(tile.row(first) + bytes));
  } else {
    const hn::Half<D> half;
    const auto halves = std::int64_t(hn::MaxLanes(half) * sizeof(T) / 16);
    return hn::Combine(d, load_blocks(half, tile, first + halves * apart, apart, bytes),
                       load_blocks(half, tile, first, apart, bytes));
  }
}

/// As many columns as 16 bytes hold; of rows as many as a vector's lanes. Each 16-byte block of the vectors
/// holds a square that lies apart in rows; log2 of its side shuffles within blocks, the same for all,
/// transpose it and leave whole columns in the vectors.
template <class D>
HWY_INLINE void stage_block(D d, const Tile& tile, std::int64_t row, std::int64_t col) {
  using T = hn::TFromD<D>;
  constexpr int kSide = int(16 / sizeof(T));
  hn::Vec<D> v[kSide];
  hn::Vec<D> w[kSide];
  SEPCONV_UNROLL
  for (int i = 0; i < kSide; ++i) v[i] = load_blocks(d, tile, row + i, kSide, col * std::int64_t(sizeof(T)));
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
  std::byte* const to = tile.staged + col * tile.staged_pitch + row * std::int64_t(sizeof(T));
  SEPCONV_UNROLL
  for (int i = 0; i < kSide; ++i) hn::StoreU(v[i], d, reinterpret_cast<T*>(to + i * tile.staged_pitch));
}

/// By blocks, of which the last of rows and of columns overlap those before. Both must be as many as a block
/// has.
template <class D>
void stage_blocks(D d, const Tile& tile) {
  const auto lanes = std::int64_t(hn::Lanes(d));
  constexpr auto kSide = std::int64_t(16 / sizeof(hn::TFromD<D>));
  for (std::int64_t row = 0; row < tile.rows; row += lanes) {
    const std::int64_t block_row = std::min(row, tile.rows - lanes);
    for (std::int64_t col = 0; col < tile.cols; col += kSide) {
      stage_block(d, tile, block_row, std::min(col, tile.cols - kSide));
    }
  }
}

template <class T>
void stage_vectors(const Tile& tile) {
  const hn::ScalableTag<T> whole;
  const hn::FixedTag<T, 16 / sizeof(T)> block;
  const auto side = std::int64_t(hn::Lanes(block));
  if (tile.cols < side || tile.rows < side) {
    stage_elements<sizeof(T), true>(tile);
  } else if (tile.rows < std::int64_t(hn::Lanes(whole))) {
    stage_blocks(block, tile);
  } else {
    stage_blocks(whole, tile);
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
      copy_element<sizeof(T), true>(tile.row(0) + (row * kCols + col) * kBytes, kBytes,
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
      copy_element<sizeof(T), true>(tile.row(row) + col * kBytes, kBytes,
                                    tile.staged + (col * kRows + row) * kBytes);
    }
  }
}

#endif  // HWY_SCALAR

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // SEPCONV_TRANSPOSE_TILE_INL_H
