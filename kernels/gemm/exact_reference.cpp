#include <cmath>
#include <vector>

#include "kernels/gemm/exact_shape.hpp"
#include "kernels/simd/rows.hpp"

namespace sepconv {
namespace {

template <class A>
A load(const std::byte* element, PixelType type) {
  return visit_pixel_type(type, [&]<class T>(std::type_identity<T>) {
    return to_arithmetic<A>(*reinterpret_cast<const T*>(element));
  });
}

template <class A>
void multiply(const ExactShape& shape, std::int64_t item) {
  std::vector<A> column(static_cast<std::size_t>(shape.k));
  for (std::int64_t j = 0; j < shape.n; ++j) {
    const std::byte* const y = shape.y.data + j * shape.y.col_bytes + item * shape.y.item_bytes;
    for (std::int64_t k = 0; k < shape.k; ++k)
      column[static_cast<std::size_t>(k)] = load<A>(y + shape.y_row_bytes(k), shape.y.type);
    for (std::int64_t i = 0; i < shape.m; ++i) {
      const std::byte* const x = shape.x.data + i * shape.x.row_bytes + item * shape.x.item_bytes;
      A sum = 0;
      for (std::int64_t k = 0; k < shape.k; ++k)
        sum = std::fma(load<A>(x + k * shape.x.col_bytes, shape.x.type), column[static_cast<std::size_t>(k)],
                       sum);
      std::byte* const to =
          shape.out.data + i * shape.out.row_bytes + j * shape.out.col_bytes + item * shape.out.item_bytes;
      visit_pixel_type(shape.out.type,
                       [&]<class T>(std::type_identity<T>) { *reinterpret_cast<T*>(to) = to_pixel<T>(sum); });
    }
  }
}

}  // namespace

void exact_gemm_reference(const ExactOperand& x, const ExactOperand& y, const PixelView& out,
                          Arithmetic arithmetic) {
  const ExactShape shape = exact_shape(x, y, out);
  visit_arithmetic(arithmetic, [&]<class A>(std::type_identity<A>) {
    for (std::int64_t item = 0; item < shape.items; ++item) multiply<A>(shape, item);
  });
}

}  // namespace sepconv
