#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "kernels/conv/border_accessor.hpp"
#include "kernels/conv/kernel2d.hpp"
#include "kernels/simd/rows.hpp"

namespace sepconv {

Kernel2d Kernel2d::transposed() const {
  Kernel2d result{taps, radius_y, radius_x};
  for (KernelTap& tap : result.taps) std::swap(tap.dy, tap.dx);
  return result;
}

void correlate_reference(const Kernel2d& kernel, const Border& border, const ConstRegion& in,
                         const Region& out, Arithmetic arithmetic) {
  visit_arithmetic(arithmetic, [&]<class A>(std::type_identity<A>) {
    const BorderAccessor<A> source(in, border);
    const std::int64_t channels = out.pixels.channels;
    visit_pixel_type(out.pixels.type, [&]<class T>(std::type_identity<T>) {
      for (std::int64_t row = 0; row < out.rect.rows; ++row) {
        for (std::int64_t i = 0; i < out.pixels.row_elements(); ++i) {
          A sum = 0;
          for (const KernelTap& tap : kernel.taps)
            sum = std::fma(
                static_cast<A>(tap.weight),
                source.at(out.rect.row + row + tap.dy, out.rect.col + i / channels + tap.dx, i % channels),
                sum);
          out.pixels.row<T>(row)[i] = to_pixel<T>(sum);
        }
      }
    });
  });
}

}  // namespace sepconv
