// Stores past the caches to rows whose cache lines begin at different columns. Included once per target.
#if defined(SEPCONV_CONV_LINE_JOINER_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SEPCONV_CONV_LINE_JOINER_INL_H
#undef SEPCONV_CONV_LINE_JOINER_INL_H
#else
#define SEPCONV_CONV_LINE_JOINER_INL_H
#endif

#include <algorithm>
#include <cstdint>

#include "kernels/conv/passes-inl.h"
#include "kernels/conv/small_kernel_fused.hpp"

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {

/// Takes blocks of rows x kBlock elements from left to right and stores the cache lines that they fill. The
/// remainder of a row's last line is buffered until the next block.
template <class T>
class WriteCombiner {
 public:
  static constexpr std::int64_t kBlock = SmallKernel::kBlock, kPitch = 2 * kBlock;

  /// Buffer for the next block, with rows kPitch elements apart.
  T* block() { return rows_[0] + kBlock; }

  /// Stores the buffered block at element i of the rows that begin at `to`, `pitch` elements apart.
  void put(std::int64_t i, std::int64_t rows, T* to, std::int64_t pitch) {
    const hn::ScalableTag<T> d;
    for (std::int64_t r = 0; r < rows; ++r, to += pitch) {
      const std::int64_t skip = elements_to_line(to);
      if (i == 0) std::copy_n(rows_[r] + kBlock, skip, to);
      for (std::int64_t at = 0; at < kBlock; at += hn::Lanes(d)) {
        if (i > 0) hn::Stream(hn::LoadU(d, rows_[r] + skip + at), d, to + i - kBlock + skip + at);
        hn::Store(hn::Load(d, rows_[r] + kBlock + at), d, rows_[r] + at);
      }
    }
  }

  /// Stores the remainder of the last block, at element i.
  void end(std::int64_t i, std::int64_t rows, T* to, std::int64_t pitch) const {
    for (std::int64_t r = 0; r < rows; ++r, to += pitch) {
      const std::int64_t skip = elements_to_line(to);
      std::copy_n(rows_[r] + skip, kBlock - skip, to + i + skip);
    }
  }

 private:
  alignas(kAlignment) T rows_[SmallKernel::kMaxRows][kPitch];
};

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
