#include "io/split_alpha.hpp"

#include <algorithm>

namespace sepconv {

void copy_but_last(const ConstPixelView& in, const PixelView& out) noexcept {
  visit_pixel_type(in.type, [&]<class T>(std::type_identity<T>) {
    for (std::int64_t row = 0; row < in.extent.rows; ++row) {
      const T* from = in.template row<T>(row);
      T* to = out.template row<T>(row);
      for (std::int64_t col = 0; col < in.extent.cols; ++col, from += in.channels, to += out.channels)
        std::copy_n(from, out.channels, to);
    }
  });
}

void make_mask(const ConstPixelView& in, std::int64_t channel, const PixelView& mask) noexcept {
  visit_pixel_type(in.type, [&]<class T>(std::type_identity<T>) {
    for (std::int64_t row = 0; row < in.extent.rows; ++row) {
      const T* from = in.template row<T>(row) + channel;
      auto* const to = mask.template row<std::uint8_t>(row);
      for (std::int64_t col = 0; col < in.extent.cols; ++col, from += in.channels)
        to[col] = *from < T(0) || *from > T(0) ? 255 : 0;
    }
  });
}

}  // namespace sepconv
