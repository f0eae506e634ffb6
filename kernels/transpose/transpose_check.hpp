// Argument checks that all transpositions share.
#pragma once

#include "kernels/transpose/transpose.hpp"

namespace sepconv {

/// Throws InvalidArgument for a negative size or element_bytes below 1.
void check_transpose(const TransposeShape& shape);

/// Element (row, col) of matrix `item`; elements of a row are `element_bytes` apart.
template <class Byte>
Byte* element_at(const BasicMatrices<Byte>& matrices, std::int64_t element_bytes, std::int64_t item,
                 std::int64_t row, std::int64_t col) {
  return matrices.data + item * matrices.item_bytes + row * matrices.pitch_bytes + col * element_bytes;
}

}  // namespace sepconv
