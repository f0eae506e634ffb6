#include "kernels/pointwise/element_op.hpp"
#include "kernels/pointwise/pointwise.hpp"
#include "kernels/pointwise/pointwise_check.hpp"

namespace sepconv {
namespace {

template <class A>
A element_at(const ConstPixelView& view, std::int64_t row, std::int64_t i) {
  return visit_pixel_type(
      view.type, [&]<class T>(std::type_identity<T>) { return to_arithmetic<A>(view.row<T>(row)[i]); });
}

}  // namespace

void pointwise_reference(const PointwiseOp& op, const ConstPixelView& a, const ConstPixelView& b,
                         const PixelView& out, Arithmetic arithmetic) {
  check_pointwise(op, a, b, out);
  visit_arithmetic(arithmetic, [&]<class A>(std::type_identity<A>) {
    const ElementOp<A> element_op(op);
    for (std::int64_t row = 0; row < out.extent.rows; ++row) {
      for (std::int64_t i = 0; i < out.row_elements(); ++i) {
        const A second = op.binary() ? element_at<A>(b, row, i) : A(0);
        const A result = element_op(element_at<A>(a, row, i), second);
        visit_pixel_type(out.type,
                         [&]<class T>(std::type_identity<T>) { out.row<T>(row)[i] = to_pixel<T>(result); });
      }
    }
  });
}

}  // namespace sepconv
