// Least values down the columns of rows that go by, a piece of a row at a time: by blocks of rows. Included
// once per target.
#if defined(SEPCONV_WINDOW_LEAST_COLUMNS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SEPCONV_WINDOW_LEAST_COLUMNS_INL_H
#undef SEPCONV_WINDOW_LEAST_COLUMNS_INL_H
#else
#define SEPCONV_WINDOW_LEAST_COLUMNS_INL_H
#endif

#include <hwy/cache_control.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/sliding_window/columns-inl.h"
#include "kernels/sliding_window/window_sizes.hpp"

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {

/// A row of a block goes by: take(i, min(beginning, end, later)), `beginning` being that of all rows up to
/// it; without a beginning it is the first, and without an end the last.
template <class E, class Take>
HWY_INLINE void continue_block(const E* row, E* beginning, const E* end, const E* later, std::int64_t count,
                               const Take& take) {
  const hn::ScalableTag<E> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto rest = [&](std::int64_t i) { return hn::Min(hn::Load(d, end + i), hn::Load(d, later + i)); };
  const auto begun = [&](std::int64_t i) {
    const auto least = hn::Min(hn::Load(d, row + i), hn::Load(d, beginning + i));
    hn::Store(least, d, beginning + i);
    return least;
  };
  if (beginning == nullptr) {
    for (std::int64_t i = 0; i < count; i += lanes) take(i, hn::Min(hn::Load(d, row + i), rest(i)));
  } else if (end == nullptr) {
    for (std::int64_t i = 0; i < count; i += lanes) take(i, begun(i));
  } else {
    for (std::int64_t i = 0; i < count; i += lanes) {
      hwy::Prefetch(end + i + count);
      take(i, hn::Min(begun(i), rest(i)));
    }
  }
}

/// Each of a block's rows becomes the least of those from it on: columns side by side, so that it is in
/// registers on its way up.
template <class E>
void end_block(E* rows, std::int64_t count, std::int64_t pitch, std::int64_t elements) {
  const hn::ScalableTag<E> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t i = 0; i < elements; i += kColumnVectors * lanes) {
    hn::Vec<decltype(d)> v[kColumnVectors];
    E* row = rows + (count - 1) * pitch + i;
    SEPCONV_UNROLL for (int j = 0; j < kColumnVectors; ++j) v[j] = hn::Load(d, row + j * lanes);
    for (std::int64_t r = count - 1; r > 0; --r) {
      row -= pitch;
      SEPCONV_UNROLL for (int j = 0; j < kColumnVectors; ++j) {
        v[j] = hn::Min(v[j], hn::Load(d, row + j * lanes));
        hn::Store(v[j], d, row + j * lanes);
      }
    }
  }
}

/// Least values down the columns of rows that are handed over one by one, by van Herk's and Gil and Werman's
/// blocks of as many rows as the window has: it is the end of one block and the beginning of the next. A
/// block's rows are turned into its ends a part at a time, while that is in the second cache: these are the
/// ends of the part, and the first row of each part becomes the end of the block.
template <class E>
class ColumnBlocks {
 public:
  using Result = E;
  ColumnBlocks(std::int64_t neighbours, E* kept, std::int64_t pitch, std::int64_t row)
      : last_(neighbours - 1),
        part_(std::clamp<std::int64_t>(
            WindowTuning::kPartBytes / (pitch * static_cast<std::int64_t>(sizeof(E))), 1, last_)),
        kept_(kept),
        pitch_(pitch),
        row_(row % neighbours) {}

  void begin_row() {}
  /// Where take() would have the row: what lies there is of no use any more.
  E* place(std::int64_t at, E*) const { return kept_ + (row_ == 0 ? last_ : row_ - 1) * pitch_ + at; }
  void take(const E* row, std::int64_t at, std::int64_t count, E* to) const {
    const hn::ScalableTag<E> d;
    take(row, at, count, [&](std::int64_t i, auto v) { hn::Store(v, d, to + i); });
  }
  /// Calls made(i, v) for each vector instead.
  template <class ManifestFields>
  HWY_INLINE void take(const E* row, std::int64_t at, std::int64_t count, const ManifestFields& made) const {
    E* const own = place(at, nullptr);
    if (row != own) std::copy_n(row, count, own);
    E* const beginning = row_ == 0 ? nullptr : kept_ + last_ * pitch_ + at;
    // Row i of the block before ends it from there on; from row i + 1 of this one on that is of no use.
    const E* const end = row_ == last_ ? nullptr : kept_ + row_ * pitch_ + at;
    const std::int64_t next = (row_ / part_ + 1) * part_;
    continue_block(own, beginning, end, next < last_ ? kept_ + next * pitch_ + at : end, count, made);
  }
  void end_row(std::int64_t count) {
    const std::int64_t rows = row_ % part_ == 0 ? part_ : row_ == last_ ? last_ % part_ : 0;
    if (row_ > 0 && rows > 0) end_block(kept_ + (row_ - rows) * pitch_, rows, pitch_, count);
    if (row_++ < last_) return;
    row_ = 0;
    for (std::int64_t part = (last_ - 1) / part_ * part_ - part_; part > 0; part -= part_)
      join_rows<Least>(kept_ + part * pitch_, kept_ + (part + part_) * pitch_, count, kept_ + part * pitch_);
  }

 private:
  std::int64_t last_;  ///< row of a block
  std::int64_t part_;  ///< rows, not counting the block's first
  E* kept_;            ///< rows of a block but for its first, then what they begin with
  std::int64_t pitch_;
  std::int64_t row_;  ///< of its block
};

/// ColumnBlocks::take() into the result, if its pixels there are elements but for pixel(), and whole vectors
/// of them.
template <class E, class Elements>
bool take_pixels(const ColumnBlocks<E>& columns, Elements elements, const E* row, std::int64_t at,
                 std::int64_t count, std::byte* to, bool past_caches) {
  const hn::ScalableTag<E> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  if (!elements.makes_pixels() || count % lanes != 0 ||
      reinterpret_cast<std::uintptr_t>(to) % (static_cast<std::size_t>(lanes) * sizeof(E)) != 0)
    return false;
  E* const pixels = reinterpret_cast<E*>(to);
  if (past_caches) {
    columns.take(row, at, count,
                 [&](std::int64_t i, auto v) { hn::Stream(elements.pixel(d, v), d, pixels + i); });
  } else {
    columns.take(row, at, count,
                 [&](std::int64_t i, auto v) { hn::Store(elements.pixel(d, v), d, pixels + i); });
  }
  return true;
}

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
