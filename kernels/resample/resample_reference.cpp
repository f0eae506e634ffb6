#include <vector>

#include "kernels/pointwise/element_op.hpp"
#include "kernels/resample/resample_check.hpp"
#include "kernels/simd/rows.hpp"

namespace sepconv {
namespace {

/// The pixels of a rectangle in the arithmetic type.
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
Plane<A> load_plane(const ConstRegion& in, const PointwiseOp& read) {
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

/// The weights of one pixel of the result.
template <class A>
struct Weights {
  Weights(const ResampleAxis& axis, std::int64_t i) : window(resample_window(axis, i)) {
    const double sum = resample_sum(axis, i, window);
    for (std::int64_t k = 0; k < window.count; ++k)
      weights.push_back(static_cast<A>(resample_weight(axis, i, window.first + k) / sum));
  }

  /// The weighted sum; value(j) is pixel j of a line of the input.
  template <class Value>
  A sum(const Value& value) const {
    A sum = 0;
    for (std::int64_t k = 0; k < window.count; ++k)
      sum = std::fma(weights[static_cast<std::size_t>(k)], value(window.first + k), sum);
    return sum;
  }

  ResampleWindow window;
  std::vector<A> weights;
};
template <class A>
std::vector<Weights<A>> weights_of(const ResampleAxis& axis, std::int64_t first, std::int64_t count) {
  std::vector<Weights<A>> all;
  for (std::int64_t i = 0; i < count; ++i) all.emplace_back(axis, first + i);
  return all;
}

/// Pixel j of a line of `size` pixels that is extended by the border; at(index) is a pixel inside it.
template <class A, class At>
A extended_pixel(const std::optional<Border>& border, std::int64_t j, std::int64_t size, const At& at) {
  const std::int64_t index = border ? border_index(j, size, border->mode) : j;
  return index < 0 ? static_cast<A>(border->value) : at(index);
}

template <class A>
Plane<A> row_pass(const ResampleAxis& axis, const std::optional<Border>& border, Plane<A> in,
                  const Rect& out) {
  if (axis.is_identity()) return in;
  Plane<A> result({in.rect.row, out.col, in.rect.rows, out.cols}, in.channels);
  const auto weights = weights_of<A>(axis, out.col, out.cols);
  for_each_element(result.rect, in.channels, [&](std::int64_t row, std::int64_t col, std::int64_t channel) {
    result.at(row, col, channel) = weights[static_cast<std::size_t>(col - out.col)].sum([&](std::int64_t j) {
      return extended_pixel<A>(border, j, axis.from, [&](std::int64_t k) { return in.at(row, k, channel); });
    });
  });
  return result;
}

template <class A>
Plane<A> column_pass(const ResampleAxis& axis, const std::optional<Border>& border, Plane<A> in,
                     const Rect& out) {
  if (axis.is_identity()) return in;
  Plane<A> result({out.row, in.rect.col, out.rows, in.rect.cols}, in.channels);
  const auto weights = weights_of<A>(axis, out.row, out.rows);
  for_each_element(result.rect, in.channels, [&](std::int64_t row, std::int64_t col, std::int64_t channel) {
    result.at(row, col, channel) = weights[static_cast<std::size_t>(row - out.row)].sum([&](std::int64_t j) {
      return extended_pixel<A>(border, j, axis.from, [&](std::int64_t k) { return in.at(k, col, channel); });
    });
  });
  return result;
}

}  // namespace

void resample_reference(const Resampling& resampling, const ConstRegion& in, const Region& out,
                        Arithmetic arithmetic) {
  check_resampling(resampling, in, out);
  const auto& [down, across, columns_first, read, border] = resampling;
  visit_arithmetic(arithmetic, [&]<class A>(std::type_identity<A>) {
    Plane<A> values = load_plane<A>(in, read);
    values = columns_first
                 ? row_pass(across, border, column_pass(down, border, std::move(values), out.rect), out.rect)
                 : column_pass(down, border, row_pass(across, border, std::move(values), out.rect), out.rect);
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
