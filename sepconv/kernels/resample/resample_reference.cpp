#include <vector>

#include "sepconv/kernels/pointwise/element_op.hpp"
#include "sepconv/kernels/resample/resample_check.hpp"
#include "sepconv/kernels/simd/rows.hpp"

namespace sepconv {
namespace {

/// Pixels of a rectangle in the arithmetic type.
template <class A>
struct Plane {
  Plane(const Rect& part, std::int64_t channel_count)
      : rect(part), channels(channel_count), values(static_cast<std::size_t>(part.area() * channel_count)) {}

  A& at(std::int64_t row, std::int64_t col, std::int64_t channel) {
    return values[static_cast<std::size_t>(((row - rect.row) * rect.cols + col - rect.col) * channels +
                                           channel)];
  }

  Rect rect;
  std::int64_t channels;
  std::vector<A> values;
};

/// Calls visit(row, col, channel) for every element.
template <class Visit>
void for_each_element(const Rect& rect, std::int64_t channels, const Visit& visit) {
  for (std::int64_t row = rect.row; row < rect.row_end(); ++row) {
    for (std::int64_t col = rect.col; col < rect.col_end(); ++col) {
      for (std::int64_t channel = 0; channel < channels; ++channel) visit(row, col, channel);
    }
  }
}

template <class A>
Plane<A> loaded(const ConstRegion& in, const PointwiseOp& read) {
  const ElementOp<A> op(read);
  Plane<A> plane(in.rect, in.pixels.channels);
  visit_pixel_type(in.pixels.type, [&]<class T>(std::type_identity<T>) {
    for_each_element(in.rect, plane.channels, [&](std::int64_t row, std::int64_t col, std::int64_t channel) {
      const A value = to_arithmetic<A>(
          in.pixels.template row<T>(row - in.rect.row)[(col - in.rect.col) * plane.channels + channel]);
      plane.at(row, col, channel) = op(value, value);
    });
  });
  return plane;
}

/// Pixel i of one line of the result: value(j) is pixel j of that line of the input.
template <class A, class Value>
A weighted_sum(const ResampleAxis& axis, std::int64_t i, const Value& value) {
  const ResampleWindow window = resample_window(axis, i);
  const double sum_of_weights = resample_sum(axis, i, window);
  A sum = 0;
  for (std::int64_t j = window.first; j < window.first + window.count; ++j)
    sum = std::fma(static_cast<A>(resample_weight(axis, i, j) / sum_of_weights), value(j), sum);
  return sum;
}

template <class A>
Plane<A> row_pass(const ResampleAxis& axis, Plane<A> in, const Rect& out) {
  if (axis.kept()) return in;
  Plane<A> result({in.rect.row, out.col, in.rect.rows, out.cols}, in.channels);
  for_each_element(result.rect, in.channels, [&](std::int64_t row, std::int64_t col, std::int64_t channel) {
    result.at(row, col, channel) =
        weighted_sum<A>(axis, col, [&](std::int64_t j) { return in.at(row, j, channel); });
  });
  return result;
}

template <class A>
Plane<A> column_pass(const ResampleAxis& axis, Plane<A> in, const Rect& out) {
  if (axis.kept()) return in;
  Plane<A> result({out.row, in.rect.col, out.rows, in.rect.cols}, in.channels);
  for_each_element(result.rect, in.channels, [&](std::int64_t row, std::int64_t col, std::int64_t channel) {
    result.at(row, col, channel) =
        weighted_sum<A>(axis, row, [&](std::int64_t j) { return in.at(j, col, channel); });
  });
  return result;
}

}  // namespace

void resample_reference(const Resampling& resampling, const ConstRegion& in, const Region& out,
                        Arithmetic arithmetic) {
  check_resampling(resampling, in, out);
  const auto& [down, across, columns_first, read] = resampling;
  visit_arithmetic(arithmetic, [&]<class A>(std::type_identity<A>) {
    Plane<A> values = loaded<A>(in, read);
    values = columns_first ? row_pass(across, column_pass(down, std::move(values), out.rect), out.rect)
                           : column_pass(down, row_pass(across, std::move(values), out.rect), out.rect);
    visit_pixel_type(out.pixels.type, [&]<class T>(std::type_identity<T>) {
      for_each_element(
          out.rect, values.channels, [&](std::int64_t row, std::int64_t col, std::int64_t channel) {
            out.pixels.row<T>(row - out.rect.row)[(col - out.rect.col) * values.channels + channel] =
                to_pixel<T>(values.at(row, col, channel));
          });
    });
  });
}

}  // namespace sepconv
