// Streaming minima down the columns, a piece of a row at a time, by blocks of rows (van Herk, Gil and
// Werman). Included once per target.
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

/// Adds a row of a block and calls emit(i, min(beginning, end, later)). `beginning` is the minimum of all
/// rows of the block up to this one; null for the first row. `end` is null for the last row.
template <class E, class Emit>
HWY_INLINE void continue_block(const E* row, E* beginning, const E* end, const E* later, std::int64_t count,
                               const Emit& emit) {
  const hn::ScalableTag<E> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto suffix_minimum = [&](std::int64_t i) {
    return hn::Min(hn::Load(d, end + i), hn::Load(d, later + i));
  };
  const auto prefix_minimum = [&](std::int64_t i) {
    const auto minimum = hn::Min(hn::Load(d, row + i), hn::Load(d, beginning + i));
    hn::Store(minimum, d, beginning + i);
    return minimum;
  };
  if (beginning == nullptr) {
    for (std::int64_t i = 0; i < count; i += lanes) emit(i, hn::Min(hn::Load(d, row + i), suffix_minimum(i)));
  } else if (end == nullptr) {
    for (std::int64_t i = 0; i < count; i += lanes) emit(i, prefix_minimum(i));
  } else {
    for (std::int64_t i = 0; i < count; i += lanes) {
      hwy::Prefetch(end + i + count);
      emit(i, hn::Min(prefix_minimum(i), suffix_minimum(i)));
    }
  }
}

/// Replaces each of a block's rows by the minimum of it and those after it, from the last row up, with a few
/// columns in registers.
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

/// Minima down the columns of rows that are added one by one, by the blocks of van Herk and of Gil and
/// Werman: a window of as many rows as a block is the end of one block and the beginning of the next. The
/// rows of a block are replaced by suffix minima a part at a time, while the part is in the L2 cache: each
/// row gets the suffix minimum of its part, and the first row of each part that of the block.
template <class E>
class ColumnBlocks {
 public:
  using Result = E;
  ColumnBlocks(std::int64_t neighbours, E* buffer, std::int64_t pitch, std::int64_t row)
      : last_(neighbours - 1),
        part_(std::clamp<std::int64_t>(
            WindowTuning::kPartBytes / (pitch * static_cast<std::int64_t>(sizeof(E))), 1, last_)),
        buffer_(buffer),
        pitch_(pitch),
        row_(row % neighbours) {}

  void begin_row() {}
  /// Buffer for the next row, whose previous content is no longer needed.
  E* input_buffer(std::int64_t at, E*) const {
    return buffer_ + (row_ == 0 ? last_ : row_ - 1) * pitch_ + at;
  }
  void add_row(const E* row, std::int64_t at, std::int64_t count, E* to) const {
    const hn::ScalableTag<E> d;
    add_row(row, at, count, [&](std::int64_t i, auto v) { hn::Store(v, d, to + i); });
  }
  /// Calls emit(i, v) for each vector of minima instead.
  template <class Emit>
  HWY_INLINE void add_row(const E* row, std::int64_t at, std::int64_t count, const Emit& emit) const {
    E* const block_row = input_buffer(at, nullptr);
    if (row != block_row) std::copy_n(row, count, block_row);
    E* const beginning = row_ == 0 ? nullptr : buffer_ + last_ * pitch_ + at;
    // Row i contains the suffix minimum of the previous block, which is unused from row i + 1 of this one on.
    const E* const end = row_ == last_ ? nullptr : buffer_ + row_ * pitch_ + at;
    const std::int64_t next = (row_ / part_ + 1) * part_;
    continue_block(block_row, beginning, end, next < last_ ? buffer_ + next * pitch_ + at : end, count, emit);
  }
  void end_row(std::int64_t count) {
    const std::int64_t rows = row_ % part_ == 0 ? part_ : row_ == last_ ? last_ % part_ : 0;
    if (row_ > 0 && rows > 0) end_block(buffer_ + (row_ - rows) * pitch_, rows, pitch_, count);
    if (row_++ < last_) return;
    row_ = 0;
    for (std::int64_t part = (last_ - 1) / part_ * part_ - part_; part > 0; part -= part_)
      join_rows<Minimum>(buffer_ + part * pitch_, buffer_ + (part + part_) * pitch_, count,
                         buffer_ + part * pitch_);
  }

 private:
  std::int64_t last_;  ///< last row of a block
  std::int64_t part_;  ///< rows of a part, not counting the block's first row
  E* buffer_;          ///< rows of a block except its first, then their prefix minimum
  std::int64_t pitch_;
  std::int64_t row_;  ///< current row of the block
};

/// ColumnBlocks::add_row() directly into the result; returns false unless the result's pixels need only
/// elements.pixel() and are whole aligned vectors.
template <class E, class Elements>
bool store_window_pixels(const ColumnBlocks<E>& columns, Elements elements, const E* row, std::int64_t at,
                         std::int64_t count, std::byte* to, bool past_caches) {
  const hn::ScalableTag<E> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  if (!elements.stores_directly() || count % lanes != 0 ||
      reinterpret_cast<std::uintptr_t>(to) % (static_cast<std::size_t>(lanes) * sizeof(E)) != 0)
    return false;
  E* const pixels = reinterpret_cast<E*>(to);
  if (past_caches) {
    columns.add_row(row, at, count,
                    [&](std::int64_t i, auto v) { hn::Stream(elements.pixel(d, v), d, pixels + i); });
  } else {
    columns.add_row(row, at, count,
                    [&](std::int64_t i, auto v) { hn::Store(elements.pixel(d, v), d, pixels + i); });
  }
  return true;
}

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
