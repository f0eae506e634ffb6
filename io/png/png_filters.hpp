// PNG's filters (PNG, third edition, 9.2): what is compressed of a row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sepconv {

/// Filters the rows of an image one after another, each by the filter whose results are smallest in sum, as
/// the standard proposes (12.7), or, in long rows, those of a quarter. Not thread-safe.
class PngFilters {
 public:
  PngFilters(std::int64_t row_bytes, std::int64_t pixel_bytes);

  /// Where the next row is to be put, in the order of bytes that PNG has.
  std::byte* row() noexcept { return rows_[0].data() + pixel_bytes_; }

  /// For the row put there: the kind of its filter, and what that makes of it, 1 + row_bytes in all; of kRoom
  /// bytes behind them some are overwritten.
  void filter_to(std::byte* to);
  static constexpr std::int64_t kRoom = 64;

 private:
  std::int64_t row_bytes_, pixel_bytes_;
  std::vector<std::byte> rows_[2];  ///< the next and the one above, behind a pixel of zeros, before kRoom
};

}  // namespace sepconv
