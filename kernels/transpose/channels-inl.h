// Transposition of tiles of two to four rows or columns by interleaved loads and stores: interleaved pixels
// to planes and back. Included once per Highway target.
#if defined(SEPCONV_TRANSPOSE_CHANNELS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SEPCONV_TRANSPOSE_CHANNELS_INL_H
#undef SEPCONV_TRANSPOSE_CHANNELS_INL_H
#else
#define SEPCONV_TRANSPOSE_CHANNELS_INL_H
#endif

#include "kernels/transpose/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {
#if HWY_TARGET != HWY_SCALAR

/// Interleaved pixels to planes: two to four columns, no gap between the input rows.
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

/// Planes to interleaved pixels: two to four rows, no gap between the output rows.
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

#endif  // SEPCONV_TRANSPOSE_CHANNELS_INL_H
