#include <cmath>

#include "kernels/conv/border_accessor.hpp"
#include "kernels/conv/conv.hpp"
#include "kernels/conv/conv_check.hpp"
#include "kernels/simd/rows.hpp"

namespace sepconv {
namespace {

/// The sum of one pass at one element; value(k) is the input under tap k. No taps: the input unchanged.
template <class A, class Value>
A apply_taps(const std::vector<double>& taps, const Value& value) {
  if (taps.empty()) return value(0);
  A sum = 0;
  for (std::size_t k = 0; k < taps.size(); ++k) {
    sum = std::fma(static_cast<A>(taps[k]), value(static_cast<std::int64_t>(k)), sum);
  }
  return sum;
}

/// Stores value(row, element) for all elements of the region, both counted from its origin.
template <class A, class Value>
void store_each(const Region& out, const Value& value) {
  visit_pixel_type(out.pixels.type, [&]<class T>(std::type_identity<T>) {
    for (std::int64_t row = 0; row < out.rect.rows; ++row) {
      T* const to = out.pixels.row<T>(row);
      for (std::int64_t i = 0; i < out.pixels.row_elements(); ++i)
        to[i] = to_pixel<T>(static_cast<A>(value(row, i)));
    }
  });
}

/// Row pass, also over rows beyond the image (rows of border pixels), then column pass.
template <class A>
void rows_first(const SeparableTaps& taps, const BorderAccessor<A>& source, const Region& out) {
  const std::int64_t channels = out.pixels.channels;
  const std::int64_t first_row = out.rect.row - taps.col_radius();
  const std::int64_t rows = out.rect.rows + 2 * taps.col_radius();
  const std::int64_t row_elements = out.pixels.row_elements();
  std::vector<A> filtered(static_cast<std::size_t>(rows * row_elements));
  const auto filtered_at = [&](std::int64_t row, std::int64_t element) -> A& {
    return filtered[static_cast<std::size_t>(row * row_elements + element)];
  };
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t i = 0; i < row_elements; ++i) {
      const std::int64_t col = out.rect.col + i / channels;
      filtered_at(row, i) = apply_taps<A>(taps.row, [&](std::int64_t k) {
        return source.at(first_row + row, col - taps.row_radius() + k, i % channels);
      });
    }
  }
  store_each<A>(out, [&](std::int64_t row, std::int64_t i) {
    return apply_taps<A>(taps.col, [&](std::int64_t k) { return filtered_at(row + k, i); });
  });
}

/// Column pass, also over columns beyond the image, then row pass.
template <class A>
void columns_first(const SeparableTaps& taps, const BorderAccessor<A>& source, const Region& out) {
  const std::int64_t channels = out.pixels.channels;
  const std::int64_t first_col = out.rect.col - taps.row_radius();
  const std::int64_t elements = (out.rect.cols + 2 * taps.row_radius()) * channels;
  std::vector<A> filtered(static_cast<std::size_t>(out.rect.rows * elements));
  const auto filtered_at = [&](std::int64_t row, std::int64_t element) -> A& {
    return filtered[static_cast<std::size_t>(row * elements + element)];
  };
  for (std::int64_t row = 0; row < out.rect.rows; ++row) {
    for (std::int64_t i = 0; i < elements; ++i) {
      filtered_at(row, i) = apply_taps<A>(taps.col, [&](std::int64_t k) {
        return source.at(out.rect.row + row - taps.col_radius() + k, first_col + i / channels, i % channels);
      });
    }
  }
  store_each<A>(out, [&](std::int64_t row, std::int64_t i) {
    return apply_taps<A>(taps.row, [&](std::int64_t k) { return filtered_at(row, i + k * channels); });
  });
}

}  // namespace

void convolve_reference(const SeparableTaps& taps, const Border& border, const ConstRegion& in,
                        const Region& out, Arithmetic arithmetic) {
  check_convolution(taps, in, out);
  if (in.rect != Rect::whole(in.image)) check_wrapped(taps, border, out);
  if (out.rect.empty()) return;
  visit_arithmetic(arithmetic, [&]<class A>(std::type_identity<A>) {
    const BorderAccessor<A> source(in, border);
    taps.columns_first ? columns_first<A>(taps, source, out) : rows_first<A>(taps, source, out);
  });
}

}  // namespace sepconv
