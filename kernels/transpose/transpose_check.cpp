#include "kernels/transpose/transpose_check.hpp"

#include "core/error.hpp"

namespace sepconv {

void check_transpose(const TransposeShape& shape) {
  if (shape.items < 0 || shape.rows < 0 || shape.cols < 0) {
    throw InvalidArgument("the number of matrices, rows and columns to transpose must be 0 or more");
  }
  if (shape.element_bytes < 1) throw InvalidArgument("the elements to transpose must have 1 byte or more");
}

}  // namespace sepconv
