#include <cmath>

#include "kernels/pointwise/pointwise.hpp"
#include "kernels/pointwise/pointwise_check.hpp"
#include "kernels/simd/rows.hpp"

namespace sepconv {
namespace {

template <class A, class From, class To>
void mix(const ChannelMatrix& matrix, const ConstPixelView& in, const PixelView& out) {
  for (std::int64_t row = 0; row < out.extent.rows; ++row) {
    for (std::int64_t col = 0; col < out.extent.cols; ++col) {
      const From* const x = in.row<From>(row) + col * in.channels;
      To* const y = out.row<To>(row) + col * out.channels;
      for (std::int64_t i = 0; i < matrix.out_channels; ++i) {
        A sum = static_cast<A>(matrix.offsets[static_cast<std::size_t>(i)]);
        for (std::int64_t j = 0; j < matrix.in_channels; ++j) {
          const double coefficient =
              matrix.coefficients[static_cast<std::size_t>(i * matrix.in_channels + j)];
          sum = std::fma(static_cast<A>(coefficient), to_arithmetic<A>(x[j]), sum);
        }
        y[i] = to_pixel<To>(sum);
      }
    }
  }
}

}  // namespace

void mix_channels_reference(const ChannelMatrix& matrix, const ConstPixelView& in, const PixelView& out,
                            Arithmetic arithmetic) {
  check_mix_channels(matrix, in, out);
  visit_arithmetic(arithmetic, [&]<class A>(std::type_identity<A>) {
    visit_pixel_type(in.type, [&]<class From>(std::type_identity<From>) {
      visit_pixel_type(out.type,
                       [&]<class To>(std::type_identity<To>) { mix<A, From, To>(matrix, in, out); });
    });
  });
}

}  // namespace sepconv
