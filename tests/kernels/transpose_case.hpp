// Matrices for the transposition tests: in buffers of exactly their size, optionally with odd addresses and
// pitches, and with poison in the gaps.
#pragma once

#include <algorithm>
#include <cstring>
#include <ostream>
#include <vector>

#include "kernels/transpose/transpose.hpp"
#include "random_image.hpp"

namespace sepconv {

inline std::ostream& operator<<(std::ostream& out, const TransposeShape& shape) {
  return out << shape.items << " matrices of " << shape.rows << " x " << shape.cols << " elements of "
             << shape.element_bytes << " bytes";
}

/// The layout of matrices in memory.
struct MatricesLayout {
  std::int64_t gap = 0;     ///< bytes between the end of a row and the next row
  std::int64_t offset = 0;  ///< bytes before the first element
  bool interleaved =
      false;  ///< rows interleaved: row 0 of each matrix, then row 1 of each; else one matrix after another
};

/// `items` matrices of `rows` rows in a buffer of exactly the size that the layout needs.
class MatricesBuffer {
 public:
  MatricesBuffer(std::int64_t items, std::int64_t rows, std::int64_t row_bytes, MatricesLayout layout)
      : view_(view_of_layout(items, rows, row_bytes, layout)) {
    const bool empty = items == 0 || rows == 0 || row_bytes == 0;
    const std::int64_t bytes =
        empty ? 0
              : layout.offset + (items - 1) * view_.item_bytes + (rows - 1) * view_.pitch_bytes + row_bytes;
    bytes_.assign(std::size_t(bytes), std::byte{0xa5});
    view_.data = bytes_.data() + (empty ? 0 : layout.offset);
  }
  MatricesBuffer(const MatricesBuffer&) = delete;
  MatricesBuffer& operator=(const MatricesBuffer&) = delete;

  const Matrices& view() const noexcept { return view_; }
  const std::vector<std::byte>& bytes() const noexcept { return bytes_; }
  void fill_random(Random& random) {
    for (std::byte& byte : bytes_) byte = std::byte(random() & 0xff);
  }
  void fill_poison() { std::fill(bytes_.begin(), bytes_.end(), std::byte{0xa5}); }

 private:
  static Matrices view_of_layout(std::int64_t items, std::int64_t rows, std::int64_t row_bytes,
                                 MatricesLayout layout) {
    const std::int64_t pitch = row_bytes + layout.gap;
    if (layout.interleaved) return {nullptr, pitch * items, pitch};
    return {nullptr, pitch, pitch * rows};
  }

  Matrices view_;
  std::vector<std::byte> bytes_;
};

/// Random matrices, the expected result, and a buffer for the actual result.
struct TransposeCase {
  TransposeCase(const TransposeShape& shape_of_case, MatricesLayout in_layout, MatricesLayout out_layout,
                Random& random)
      : shape(shape_of_case),
        in(shape.items, shape.rows, shape.cols * shape.element_bytes, in_layout),
        expected(shape.items, shape.cols, shape.rows * shape.element_bytes, out_layout),
        actual(shape.items, shape.cols, shape.rows * shape.element_bytes, out_layout) {
    in.fill_random(random);
    transpose_reference(shape, in.view(), expected.view());
  }

  TransposeShape shape;
  MatricesBuffer in;
  MatricesBuffer expected;
  MatricesBuffer actual;
};

inline MatricesLayout random_layout(Random& random) {
  return {random_between(random, 0, 2) * random_between(random, 0, 40),
          random_between(random, 0, 1) * random_between(random, 0, 70), random_between(random, 0, 1) == 1};
}

}  // namespace sepconv
