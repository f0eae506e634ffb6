// Transposition of square matrices of elements in the 16-byte blocks of vectors. Included once per target.
#if defined(SEPCONV_SIMD_SQUARES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SEPCONV_SIMD_SQUARES_INL_H
#undef SEPCONV_SIMD_SQUARES_INL_H
#else
#define SEPCONV_SIMD_SQUARES_INL_H
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "kernels/simd/dispatch.hpp"

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
#if HWY_TARGET != HWY_SCALAR

/// Number of elements in 16 bytes.
template <class D>
constexpr int square_side() {
  return int(16 / sizeof(hn::TFromD<D>));
}

/// Loads a vector whose 16-byte block k begins k * apart bytes after `from`.
template <class D>
HWY_INLINE hn::Vec<D> load_blocks(D d, const std::byte* from, std::int64_t block_stride) {
  using T = hn::TFromD<D>;
  if constexpr (hn::MaxLanes(D()) * sizeof(T) <= 16) {
    return hn::LoadU(d, reinterpret_cast<const T*>(from));
  } else {
    const hn::Half<D> half;
    const auto halves = std::int64_t(hn::MaxLanes(half) * sizeof(T) / 16);
    return hn::Combine(d, load_blocks(half, from + halves * block_stride, block_stride),
                       load_blocks(half, from, block_stride));
  }
}

/// Transposes the square matrix in each 16-byte block of the vectors, in log2(kSide) steps of shuffles within
/// blocks.
template <class D, int kSide = square_side<D>()>
HWY_INLINE void transpose_squares(D d, hn::Vec<D> (&v)[std::size_t(kSide)]) {
  hn::Vec<D> w[kSide];
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
}

#endif  // HWY_TARGET
}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
