// The comparisons that find one rank of a window, shared between neighbours along a row. Each column under
// the window is sorted, and sorted columns are merged into wider lists. The rank is selected from the last
// two lists, which cover the window, without merging them. A sorted list of n columns is shared by all pixels
// whose windows contain these columns.
//
// Columns are sorted by Batcher's odd-even merge sort and lists merged by his odd-even merge (Knuth, TAOCP 3,
// 5.3.4); comparisons that no result depends on are removed. Sharing sorted columns is due to Adams, "Fast
// median filters using separable sorting networks" (2021).
#pragma once

#include <cstdint>
#include <vector>

namespace sepconv {

/// One value for each pixel of a row: that of slot `slot`, `shift` pixels to the right.
struct ShiftedSlot {
  std::int32_t slot = 0;
  std::int32_t shift = 0;
};

class SortingNetwork {
 public:
  static constexpr std::int32_t kNone = -1;

  /// low = min(a, b), high = max(a, b) for `more` pixels beyond the result's; kNone is not stored. low and
  /// high may be slots of a and b.
  struct Comparison {
    ShiftedSlot a, b;
    std::int32_t low = kNone, high = kNone;
    std::int32_t more = 0;
  };

  /// max(a, b); the result is the minimum of all terms.
  struct Term {
    ShiftedSlot a, b;
  };

  /// Finds `rank` among `rows` x `cols` values. Slots 0 .. rows - 1 are the window's rows, from its first
  /// column on, and are only read.
  SortingNetwork(std::int64_t rows, std::int64_t cols, std::int64_t rank);

  std::int64_t rows() const noexcept { return rows_; }
  std::int64_t cols() const noexcept { return cols_; }
  const std::vector<Comparison>& comparisons() const noexcept { return comparisons_; }
  const std::vector<Term>& terms() const noexcept { return terms_; }
  std::int64_t slots() const noexcept { return slots_; }  ///< including the rows
  /// Cost: about this many minima and maxima, and stores, per pixel.
  std::int64_t operations() const noexcept;

 private:
  std::int64_t rows_, cols_, slots_ = 0;
  std::vector<Comparison> comparisons_;
  std::vector<Term> terms_;
};

}  // namespace sepconv
