#include <algorithm>
#include <iterator>

#include "io/exif.hpp"

namespace sepconv {

FieldWidth field_width(std::uint16_t type) noexcept {
  switch (type) {
    case 1:
    case 2:
    case 6:
    case 7:
      return {1, 1};
    case 3:
    case 8:
      return {2, 2};
    case 4:
    case 9:
    case 11:
    case 13:
      return {4, 4};
    case 5:
    case 10:
      return {8, 4};
    case 12:
      return {8, 8};
    default:
      return {};
  }
}

bool is_retained_exif_tag(std::uint32_t tag) noexcept {
  // Description, maker, model, software, date, artist, host and copyright of the image, and its pixel size.
  constexpr std::uint32_t kRetained[] = {270, 271, 272, 282, 283, 296, 305, 306, 315, 316, 33432};
  return std::ranges::find(kRetained, tag) != std::end(kRetained);
}

}  // namespace sepconv
