// Pixels of a region and of its border, read one by one by the references; private to the kernels.
#pragma once

#include <cstdint>

#include "core/image.hpp"
#include "kernels/conv/border.hpp"
#include "kernels/simd/rows.hpp"

namespace sepconv {

/// Returns pixels in the arithmetic type A. Outside the image they follow the border mode.
template <class A>
class BorderAccessor {
 public:
  BorderAccessor(const ConstRegion& region, const Border& border) : region_(region), border_(border) {}

  A at(std::int64_t row, std::int64_t col, std::int64_t channel) const {
    const std::int64_t image_row = border_index(row, region_.image.rows, border_.mode);
    const std::int64_t image_col = border_index(col, region_.image.cols, border_.mode);
    if (image_row < 0 || image_col < 0) return static_cast<A>(border_.value);
    const std::int64_t element = (image_col - region_.rect.col) * region_.pixels.channels + channel;
    return visit_pixel_type(region_.pixels.type, [&]<class T>(std::type_identity<T>) {
      return to_arithmetic<A>(region_.pixels.template row<T>(image_row - region_.rect.row)[element]);
    });
  }

 private:
  ConstRegion region_;
  Border border_;
};

}  // namespace sepconv
