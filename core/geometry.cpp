#include "core/geometry.hpp"

#include <fmt/format.h>

namespace sepconv {

std::string to_string(const Rect& rect) {
  return fmt::format("rows {}..{}, columns {}..{}", rect.row, rect.row_end(), rect.col, rect.col_end());
}

}  // namespace sepconv
