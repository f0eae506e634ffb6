// PNG's row filters (PNG, third edition, 9.2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sepconv {

/// Filters the rows of an image in order. Each row gets the filter with the smallest sum of results, as the
/// standard proposes (12.7); in long rows only a quarter is summed. Not thread-safe.
class PngFilters {
 public:
  PngFilters(std::int64_t row_bytes, std::int64_t pixel_bytes);

  /// Buffer for the next row, in PNG's byte order.
  std::byte* row() noexcept { return rows_[0].data() + pixel_bytes_; }

  /// Filters the row in row(): writes the number of the filter and the filtered bytes, 1 + row_bytes in
  /// total. May overwrite up to kRoom bytes after them.
  void filter_to(std::byte* to);
  static constexpr std::int64_t kRoom = 64;

 private:
  std::int64_t row_bytes_, pixel_bytes_;
  /// the next row and the row above, each between a pixel of zeros and kRoom bytes
  std::vector<std::byte> rows_[2];
};

}  // namespace sepconv
