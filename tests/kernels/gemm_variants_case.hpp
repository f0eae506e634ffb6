// Products for the tests of the gemm benchmark: operands inside wider rows, and sums in the order that the
// variants guarantee.
#pragma once

#include <cmath>
#include <string>

#include "bench/gemm/variants.hpp"
#include "random_image.hpp"

namespace sepconv::gemm_variants_test {

inline constexpr PixelType kTypes[] = {PixelType::f32, PixelType::f64};
// Sizes around the blocks of 8, 16, 32, 64 and 128, sums shorter than a tile, primes, narrow and short
// matrices.
inline constexpr GemmShape kShapes[] = {{1, 1, 1},      {7, 7, 7},    {8, 16, 32},   {15, 17, 16},
                                        {16, 16, 15},   {17, 15, 17}, {33, 129, 1},  {129, 33, 65},
                                        {128, 128, 16}, {127, 64, 8}, {130, 257, 9}, {1, 300, 5},
                                        {300, 1, 70},   {2, 3, 1000}, {65, 63, 33},  {256, 192, 48}};

/// The columns before and after the matrix in the rows that contain it.
struct Padding {
  std::int64_t before = 0, after = 0;
};
inline constexpr Padding kPaddings[] = {
    {0, 0}, {4, 4}, {1, 2}};  // rows of the second start at a vector's alignment

/// A matrix inside wider rows.
struct Matrix {
  Matrix(Extent extent, PixelType type, Padding padding)
      : all({extent.rows, extent.cols + padding.before + padding.after}, 1, type, 0),
        inside{0, padding.before, extent.rows, extent.cols} {
    all.fill_bytes(0xFF);
  }
  PixelView view() const { return all.view.crop(inside); }

  Image all;
  Rect inside;
};

/// Operands of a product on the host, and an unwritten result.
struct Case {
  Case(const GemmShape& s, PixelType type, bool ta, bool tb, bool add, Padding padding = {})
      : shape(s),
        trans_a(ta),
        trans_b(tb),
        adds(add),
        a(ta ? Extent{s.k, s.m} : Extent{s.m, s.k}, type, padding),
        b(tb ? Extent{s.n, s.k} : Extent{s.k, s.n}, type, padding),
        added({s.m, s.n}, type, padding),
        out({s.m, s.n}, type, padding) {
    Random random(7);
    for (const Matrix* const matrix : {&a, &b, &added}) fill_random(matrix->view(), random);
  }

  GemmOperands operands() const { return operands_of(a.view(), b.view(), added.view()); }
  GemmOperands operands_of(const ConstPixelView& a_view, const ConstPixelView& b_view,
                           const ConstPixelView& added_view) const {
    GemmOperands operands{.a = a_view, .b = b_view, .trans_a = trans_a, .trans_b = trans_b, .added = {}};
    if (adds) operands.added = added_view;
    return operands;
  }

  /// Computes the product of operands of type T in type Sum, over ascending k by fused multiply-add from 0;
  /// then adds `added`.
  template <class T, class Sum>
  void sum_into(const PixelView& result) const {
    const auto at = [](const Matrix& matrix, bool transposed, std::int64_t row, std::int64_t col) {
      return static_cast<Sum>(transposed ? matrix.view().row<T>(col)[row] : matrix.view().row<T>(row)[col]);
    };
    for (std::int64_t i = 0; i < shape.m; ++i) {
      for (std::int64_t j = 0; j < shape.n; ++j) {
        Sum sum = 0;
        for (std::int64_t k = 0; k < shape.k; ++k)
          sum = std::fma(at(a, trans_a, i, k), at(b, trans_b, k, j), sum);
        result.row<Sum>(i)[j] = adds ? sum + at(added, false, i, j) : sum;
      }
    }
  }

  /// A poisoned matrix of the same layout as `out`.
  Matrix empty_result() const {
    return {{shape.m, shape.n},
            out.all.view.type,
            {out.inside.col, out.all.view.extent.cols - out.inside.col - shape.n}};
  }

  GemmShape shape;
  bool trans_a, trans_b, adds;
  Matrix a, b, added, out;
};

inline std::string text_of(const Case& c) {
  return std::to_string(c.shape.m) + " x " + std::to_string(c.shape.n) + " x " + std::to_string(c.shape.k) +
         (c.trans_a ? ", A^T" : ", A") + (c.trans_b ? " B^T" : " B") + (c.adds ? " + C, " : ", ") +
         std::string(name_of(c.out.all.view.type)) + ", from column " + std::to_string(c.out.inside.col);
}

}  // namespace sepconv::gemm_variants_test
