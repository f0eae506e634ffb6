// The comparisons that find one rank of a window, shared between neighbours along a row: each column under
// the window is sorted, sorted columns are merged to twos and threes and so on, and the last two lists, which
// the window is made of, are not merged but asked for the rank. A list of n columns that begins at one pixel
// is also that of its neighbour, n columns of which begin one to the right.
//
// Columns are sorted by Batcher's odd-even merge sort and lists merged by his odd-even merge (Knuth, TAOCP 3,
// 5.3.4); what no result depends on is left out. Sharing sorted columns is due to Adams, "Fast median filters
// using separable sorting networks" (2021).
#pragma once

#include <cstdint>
#include <vector>

namespace sepconv {

/// One value for each pixel of a row: in slot `slot`, `shift` pixels to the right.
struct ShiftedSlot {
  std::int32_t slot = 0;
  std::int32_t shift = 0;
};

class SortingNetwork {
 public:
  static constexpr std::int32_t kNone = -1;

  /// low = min(a, b), high = max(a, b) for this many pixels more than the result's; kNone is not stored. Slots
  /// may be those of a and b.
  struct Comparison {
    ShiftedSlot a, b;
    std::int32_t low = kNone, high = kNone;
    std::int32_t more = 0;
  };

  /// One of the terms whose minimum the result is: the maximum of both.
  struct Term {
    ShiftedSlot a, b;
  };

  /// For the rank among `rows` x `cols` values. Slots 0 .. rows - 1 are the window's rows, from its first
  /// column on, and are only read.
  SortingNetwork(std::int64_t rows, std::int64_t cols, std::int64_t rank);

  std::int64_t rows() const noexcept { return rows_; }
  std::int64_t cols() const noexcept { return cols_; }
  const std::vector<Comparison>& comparisons() const noexcept { return comparisons_; }
  const std::vector<Term>& terms() const noexcept { return terms_; }
  std::int64_t slots() const noexcept { return slots_; }  ///< the rows among them
  /// What it takes: about this many minima and maxima, and stores, for a pixel.
  std::int64_t operations() const noexcept;

 private:
  std::int64_t rows_, cols_, slots_ = 0;
  std::vector<Comparison> comparisons_;
  std::vector<Term> terms_;
};

}  // namespace sepconv
