// Streaming sums down the columns, a piece of a row at a time: from windows of 1, 2, 4, ... rows or, if sums
// are exact, by running sums. Included once per target.
#if defined(SEPCONV_WINDOW_COLUMNS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SEPCONV_WINDOW_COLUMNS_INL_H
#undef SEPCONV_WINDOW_COLUMNS_INL_H
#else
#define SEPCONV_WINDOW_COLUMNS_INL_H
#endif

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>

#include "kernels/sliding_window/window-inl.h"
#include "kernels/sliding_window/window_check.hpp"

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {

/// Windows of 2^k rows used with a new row: the one that ended 2^k rows ago, whose slot is overwritten, and
/// the next piece of the sum.
template <class E>
struct ColumnLevel {
  E* slot = nullptr;
  const E* piece = nullptr;
  bool begins_sum = false;
};

constexpr int kColumnVectors = 4;

/// Adds `row` at element `at` of the buffered rows: to[i] is the sum over the window that ends with `row`.
/// All are whole blocks of kColumnVectors vectors.
template <class E>
void sum_columns(const ColumnLevel<E>* level, int levels, E* oldest, std::int64_t at, const E* row,
                 std::int64_t count, E* to) {
  const hn::ScalableTag<E> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t i = 0; i < count; i += kColumnVectors * lanes) {
    hn::Vec<decltype(d)> v[kColumnVectors], part[kColumnVectors];
    SEPCONV_UNROLL for (int j = 0; j < kColumnVectors; ++j) part[j] = v[j] =
        hn::LoadU(d, row + i + j * lanes);
    for (int k = 0; k < levels; ++k) {
      if (level[k].begins_sum) {
        SEPCONV_UNROLL for (int j = 0; j < kColumnVectors; ++j) part[j] = v[j];
      } else if (level[k].piece != nullptr) {
        SEPCONV_UNROLL for (int j = 0; j < kColumnVectors; ++j) part[j] =
            hn::Add(hn::Load(d, level[k].piece + at + i + j * lanes), part[j]);
      }
      E* const slot = level[k].slot + at + i;
      SEPCONV_UNROLL for (int j = 0; j < kColumnVectors; ++j) {
        const auto older = hn::Load(d, slot + j * lanes);
        hn::Store(v[j], d, slot + j * lanes);
        v[j] = hn::Add(older, v[j]);
      }
    }
    if (oldest != nullptr) {
      SEPCONV_UNROLL for (int j = 0; j < kColumnVectors; ++j) {
        const auto older = hn::Load(d, oldest + at + i + j * lanes);
        hn::Store(v[j], d, oldest + at + i + j * lanes);
        v[j] = hn::Add(older, part[j]);
      }
    }
    SEPCONV_UNROLL for (int j = 0; j < kColumnVectors; ++j) hn::StoreU(v[j], d, to + i + j * lanes);
  }
}

/// Adds a row: to = total + row. Then `row` replaces `oldest` in the total and in memory.
template <class E, class S>
void run_columns(const E* row, std::int64_t count, E* oldest, S* total, S* to) {
  const hn::ScalableTag<S> d;
  const hn::Rebind<E, decltype(d)> d_row;
  const auto wide = [&](auto v) {
    if constexpr (std::is_same_v<E, S>) return v;
    if constexpr (!std::is_same_v<E, S>) return hn::PromoteTo(d, v);
  };
  for (std::int64_t i = 0; i < count; i += static_cast<std::int64_t>(hn::Lanes(d))) {
    const auto entering = hn::LoadU(d_row, row + i), leaving = hn::Load(d_row, oldest + i);
    const auto sum = hn::Add(hn::Load(d, total + i), wide(entering));
    hn::Store(entering, d_row, oldest + i);
    hn::Store(hn::Sub(sum, wide(leaving)), d, total + i);
    hn::StoreU(sum, d, to + i);
  }
}

/// Sums down the columns of rows that are added one by one. `buffer` has space for `neighbours` rows.
template <class E>
class ColumnSums {
 public:
  using Result = E;
  /// `row` is the number of rows added before.
  ColumnSums(std::int64_t neighbours, E* buffer, std::int64_t pitch, std::int64_t row)
      : steps_(neighbours), buffer_(buffer), pitch_(pitch), row_(row) {}

  void begin_row() {
    E* ring = buffer_;
    for (int k = 0; k < steps_.levels; ++k) {
      const std::int64_t size = std::int64_t{1} << k, after = steps_.after(k);
      ColumnLevel<E>& level = levels_[static_cast<std::size_t>(k)];
      level.slot = ring + (row_ & (size - 1)) * pitch_;
      level.begins_sum = steps_.has(k) && after == 0;
      level.piece = steps_.has(k) && after > 0 ? ring + ((row_ - after) & (size - 1)) * pitch_ : nullptr;
      ring += size * pitch_;
    }
    oldest_ = steps_.rest() > 0 ? ring + row_ % steps_.rest() * pitch_ : nullptr;
  }
  /// Preferred buffer for the elements of the next row from `at` on; `line` if there is none.
  E* input_buffer(std::int64_t, E* line) const { return line; }
  /// Adds elements [at, at + count) of a row, which `row` points to. to[i] is the sum over the window that
  /// ends with this row. `at` is the beginning of a block of vectors.
  void add_row(const E* row, std::int64_t at, std::int64_t count, E* to) const {
    sum_columns(levels_.data(), steps_.levels, oldest_, at, row, count, to);
  }
  /// Ends a row of this many elements.
  void end_row(std::int64_t) { ++row_; }

 private:
  WindowSteps steps_;
  E* buffer_;
  std::int64_t pitch_;
  std::int64_t row_;
  std::array<ColumnLevel<E>, 40> levels_{};
  E* oldest_ = nullptr;
};

/// As ColumnSums, for sums that are exact in S in any order. `buffer` has space for neighbours - 1 rows, and
/// for one row of S.
template <class E, class S>
class RunningColumns {
 public:
  using Result = S;
  RunningColumns(std::int64_t neighbours, E* buffer, std::int64_t pitch, std::int64_t row)
      : buffered_rows_(neighbours - 1), buffer_(buffer), pitch_(pitch), row_(row % buffered_rows_) {
    constexpr auto kTotalRows = static_cast<std::int64_t>(sizeof(S) / sizeof(E));
    if (row == 0) std::fill_n(buffer_, (buffered_rows_ + kTotalRows) * pitch_, E(0));
  }

  void begin_row() {}
  E* input_buffer(std::int64_t, E* line) const { return line; }
  void add_row(const E* row, std::int64_t at, std::int64_t count, S* to) const {
    S* const total = reinterpret_cast<S*>(buffer_ + buffered_rows_ * pitch_) + at;
    run_columns(row, count, buffer_ + row_ * pitch_ + at, total, to);
  }
  void end_row(std::int64_t) { row_ = row_ + 1 < buffered_rows_ ? row_ + 1 : 0; }

 private:
  std::int64_t buffered_rows_;
  E* buffer_;
  std::int64_t pitch_;
  std::int64_t row_;  ///< the oldest buffered row
};

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
