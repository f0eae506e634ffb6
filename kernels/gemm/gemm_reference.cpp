#include "kernels/gemm/gemm.hpp"
#include "kernels/gemm/gemm_views.hpp"

namespace sepconv {
namespace {

template <class T>
void multiply(const GemmOp& op, const GemmShape& shape, const ConstPixelView& a, const ConstPixelView& b,
              const PixelView& out) {
  for (std::int64_t row = 0; row < shape.m; ++row) {
    for (std::int64_t col = 0; col < shape.n; ++col) {
      double sum = 0;
      for (std::int64_t k = 0; k < shape.k; ++k) {
        const T left = op.trans_a ? a.row<T>(k)[row] : a.row<T>(row)[k];
        const T right = op.trans_b ? b.row<T>(col)[k] : b.row<T>(k)[col];
        sum += static_cast<double>(left) * static_cast<double>(right);
      }
      T& result = out.row<T>(row)[col];
      result = static_cast<T>(op.alpha * sum + (op.beta == 0 ? 0 : op.beta * static_cast<double>(result)));
    }
  }
}

}  // namespace

void gemm_reference(const GemmOp& op, const ConstPixelView& a, const ConstPixelView& b,
                    const PixelView& out) {
  const GemmShape shape = checked_shape(op, a, b, out);
  out.type == PixelType::f32 ? multiply<float>(op, shape, a, b, out) : multiply<double>(op, shape, a, b, out);
}

}  // namespace sepconv
