#include <cmath>

#include "sepconv/kernels/conv/conv.hpp"
#include "sepconv/kernels/conv/conv_check.hpp"
#include "sepconv/kernels/simd/rows.hpp"

namespace sepconv {
namespace {

/// A region's pixels in the arithmetic type, for any position: outside the image the border decides.
template <class A>
class Extended {
 public:
  Extended(const ConstRegion& region, const Border& border) : region_(region), border_(border) {}

  A at(std::int64_t row, std::int64_t col, std::int64_t channel) const {
    const std::int64_t image_row = border_index(row, region_.image.rows, border_.mode);
    const std::int64_t image_col = border_index(col, region_.image.cols, border_.mode);
    if (image_row < 0 || image_col < 0) return static_cast<A>(border_.value);
    const std::int64_t element = (image_col - region_.rect.col) * region_.pixels.channels + channel;
    return visit_pixel_type(region_.pixels.type, [&]<class T>(std::type_identity<T>) {
      return to_arithmetic<A>(region_.pixels.template row<T>(image_row - region_.rect.row)[element]);
    });
  }

 private:
  ConstRegion region_;
  Border border_;
};

/// The sum of one pass at one element: value(k) is the input under tap k.
template <class A, class Value>
A apply_taps(const std::vector<double>& taps, const Value& value) {
  A sum = 0;
  for (std::size_t k = 0; k < taps.size(); ++k) {
    sum = std::fma(static_cast<A>(taps[k]), value(static_cast<std::int64_t>(k)), sum);
  }
  return sum;
}

template <class A>
void convolve(const SeparableTaps& taps, const Border& border, const ConstRegion& in, const Region& out) {
  const Extended<A> source(in, border);
  const std::int64_t channels = in.pixels.channels;
  const std::int64_t first_row = out.rect.row - taps.col_radius();
  const std::int64_t rows = out.rect.rows + 2 * taps.col_radius();
  const std::int64_t row_elements = out.pixels.row_elements();

  // Row pass, also of the rows beyond the image: those are rows of border pixels.
  std::vector<A> filtered(static_cast<std::size_t>(rows * row_elements));
  const auto filtered_at = [&](std::int64_t row, std::int64_t element) -> A& {
    return filtered[static_cast<std::size_t>(row * row_elements + element)];
  };
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t i = 0; i < row_elements; ++i) {
      const std::int64_t col = out.rect.col + i / channels;
      const auto under_tap = [&](std::int64_t k) {
        return source.at(first_row + row, col - taps.row_radius() + k, i % channels);
      };
      filtered_at(row, i) = taps.row.empty() ? under_tap(0) : apply_taps<A>(taps.row, under_tap);
    }
  }

  // Column pass and store.
  visit_pixel_type(out.pixels.type, [&]<class T>(std::type_identity<T>) {
    for (std::int64_t row = 0; row < out.rect.rows; ++row) {
      T* const to = out.pixels.row<T>(row);
      for (std::int64_t i = 0; i < row_elements; ++i) {
        const auto under_tap = [&](std::int64_t k) { return filtered_at(row + k, i); };
        to[i] = to_pixel<T>(taps.col.empty() ? under_tap(0) : apply_taps<A>(taps.col, under_tap));
      }
    }
  });
}

}  // namespace

void convolve_reference(const SeparableTaps& taps, const Border& border, const ConstRegion& in,
                        const Region& out, Arithmetic arithmetic) {
  check_convolution(taps, in, out);
  if (out.rect.empty()) return;
  visit_arithmetic(arithmetic, [&]<class A>(std::type_identity<A>) { convolve<A>(taps, border, in, out); });
}

}  // namespace sepconv
