#include "core/image.hpp"

#include <cstring>
#include <stdexcept>

namespace sepconv {

void throw_out_of_view(const Rect& part, Extent whole) {
  throw std::out_of_range("requested pixels are outside the view: " + to_string(part) + " of " +
                          std::to_string(whole.rows) + " rows and " + std::to_string(whole.cols) +
                          " columns");
}

void copy_pixels(const ConstPixelView& from, const PixelView& to) noexcept {
  assert(from.extent == to.extent && from.channels == to.channels && from.type == to.type);
  const auto row_bytes = static_cast<std::size_t>(from.row_bytes());
  if (row_bytes == 0) return;
  for (std::int64_t row = 0; row < from.extent.rows; ++row) {
    std::memcpy(to.row_data(row), from.row_data(row), row_bytes);
  }
}

}  // namespace sepconv
