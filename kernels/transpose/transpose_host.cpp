#include <algorithm>
#include <cstring>

#include "sepconv/kernels/transpose/transpose.hpp"
#include "sepconv/kernels/transpose/transpose_check.hpp"

namespace sepconv {

void transpose_host(const TransposeShape& shape, ConstMatrices in, Matrices out) {
  transpose_reference(shape, in, out);
}

void transpose_host(const TransposeShape& shape, ConstMatrices in, Matrices out, Executor& executor) {
  check_transpose(shape);
  executor.for_each(shape.items, [&](std::int64_t item, int) {
    TransposeShape one = shape;
    one.items = 1;
    transpose_host(one, {in.data + item * in.item_bytes, in.pitch_bytes, in.item_bytes},
                   {out.data + item * out.item_bytes, out.pitch_bytes, out.item_bytes});
  });
}

}  // namespace sepconv
