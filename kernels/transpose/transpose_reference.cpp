#include <cstring>

#include "kernels/transpose/transpose.hpp"
#include "kernels/transpose/transpose_check.hpp"

namespace sepconv {

void transpose_reference(const TransposeShape& shape, ConstMatrices in, Matrices out) {
  check_transpose(shape);
  const std::int64_t bytes = shape.element_bytes;
  for (std::int64_t item = 0; item < shape.items; ++item) {
    for (std::int64_t row = 0; row < shape.rows; ++row) {
      for (std::int64_t col = 0; col < shape.cols; ++col) {
        std::memcpy(element_at(out, bytes, item, col, row), element_at(in, bytes, item, row, col),
                    std::size_t(bytes));
      }
    }
  }
}

}  // namespace sepconv
