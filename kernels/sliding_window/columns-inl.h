// Sums down the columns of rows that go by, a piece of a row at a time: of windows of 1, 2, 4, .. rows, or,
// where they are exact, by a sum that runs. Included once per target.
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

/// What a row going by meets of the windows of 2^k rows that ended this many rows ago: the one that is as old
/// as it is high, whose place it takes, and the one that continues what has been joined of the sum.
template <class E>
struct ColumnLevel {
  E* slot = nullptr;
  const E* piece = nullptr;
  bool begins_sum = false;
};

/// One row more, from element `at` on of those kept: to[i] is of the last rows, as many as the window has,
/// the newest of which is `row`. All are whole blocks of kColumnVectors vectors.
constexpr int kColumnVectors = 4;

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

/// One row more: to = total + row. Of the total of what the next window has of these rows, `row` is part then
/// and `oldest`, whose place it takes, no longer.
template <class E, class S>
void run_columns(const E* row, std::int64_t count, E* oldest, S* total, S* to) {
  const hn::ScalableTag<S> d;
  const hn::Rebind<E, decltype(d)> own;
  const auto wide = [&](auto v) {
    if constexpr (std::is_same_v<E, S>) return v;
    if constexpr (!std::is_same_v<E, S>) return hn::PromoteTo(d, v);
  };
  for (std::int64_t i = 0; i < count; i += static_cast<std::int64_t>(hn::Lanes(d))) {
    const auto fresh = hn::LoadU(own, row + i), old = hn::Load(own, oldest + i);
    const auto sum = hn::Add(hn::Load(d, total + i), wide(fresh));
    hn::Store(fresh, own, oldest + i);
    hn::Store(hn::Sub(sum, wide(old)), d, total + i);
    hn::StoreU(sum, d, to + i);
  }
}

/// Sums down the columns of rows that are handed over one by one. `kept` has room for as many rows as the
/// window has neighbours but one, and for one more.
template <class E>
class ColumnSums {
 public:
  using Result = E;
  /// `row` rows have gone by before.
  ColumnSums(std::int64_t neighbours, E* kept, std::int64_t pitch, std::int64_t row)
      : steps_(neighbours), kept_(kept), pitch_(pitch), row_(row) {}

  void begin_row() {
    E* ring = kept_;
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
  /// Where take() would have the row from element `at` on, if that is not `line`.
  E* place(std::int64_t, E* line) const { return line; }
  /// to[i]: of the rows up to this one, as many as the window has; for `count` elements from `at` on of each
  /// row, of which `row` has these. `at` is where a block of vectors begins.
  void take(const E* row, std::int64_t at, std::int64_t count, E* to) const {
    sum_columns(levels_.data(), steps_.levels, oldest_, at, row, count, to);
  }
  /// For rows of this many elements.
  void end_row(std::int64_t) { ++row_; }

 private:
  WindowSteps steps_;
  E* kept_;
  std::int64_t pitch_;
  std::int64_t row_;
  std::array<ColumnLevel<E>, 40> levels_{};
  E* oldest_ = nullptr;
};

/// Sums, likewise, that are exact in S, in whatever order they are made. `kept` has room for as many rows as
/// the window has neighbours but one, and for one of S.
template <class E, class S>
class RunningColumns {
 public:
  using Result = S;
  RunningColumns(std::int64_t neighbours, E* kept, std::int64_t pitch, std::int64_t row)
      : kept_rows_(neighbours - 1), kept_(kept), pitch_(pitch), row_(row % kept_rows_) {
    constexpr auto kTotalRows = static_cast<std::int64_t>(sizeof(S) / sizeof(E));
    if (row == 0) std::fill_n(kept_, (kept_rows_ + kTotalRows) * pitch_, E(0));
  }

  void begin_row() {}
  E* place(std::int64_t, E* line) const { return line; }
  void take(const E* row, std::int64_t at, std::int64_t count, S* to) const {
    S* const total = reinterpret_cast<S*>(kept_ + kept_rows_ * pitch_) + at;
    run_columns(row, count, kept_ + row_ * pitch_ + at, total, to);
  }
  void end_row(std::int64_t) { row_ = row_ + 1 < kept_rows_ ? row_ + 1 : 0; }

 private:
  std::int64_t kept_rows_;
  E* kept_;
  std::int64_t pitch_;
  std::int64_t row_;  ///< of those kept, the oldest
};

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
