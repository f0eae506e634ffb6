#include "kernels/gemm/exact_shape.hpp"

#include <fmt/format.h>

#include "core/error.hpp"

namespace sepconv {
namespace {

std::string shape_text(const ConstPixelView& view) {
  const std::string extent = fmt::format("{} x {}", view.extent.rows, view.extent.cols);
  return view.channels == 1 ? extent : fmt::format("{} of {} channels", extent, view.channels);
}

[[noreturn]] void fail(const ExactOperand& x, const ExactOperand& y, const PixelView& out) {
  throw InvalidArgument(fmt::format("a matrix of {}{} times one of {}{} is not a matrix of {}",
                                    shape_text(x.pixels), x.transposed ? " (transposed)" : "",
                                    shape_text(y.pixels), y.transposed ? " (transposed)" : "",
                                    shape_text(out)));
}

/// An image as a matrix; the caller decides how its channels are used.
struct Pixels {
  std::int64_t rows, cols;
  ExactMatrix matrix;

  explicit Pixels(const ExactOperand& operand)
      : rows(operand.pixels.extent.rows),
        cols(operand.pixels.extent.cols),
        matrix{const_cast<std::byte*>(operand.pixels.data), operand.pixels.type, operand.pixels.pitch_bytes,
               operand.pixels.pixel_bytes()} {
    if (!operand.transposed) return;
    std::swap(rows, cols);
    std::swap(matrix.row_bytes, matrix.col_bytes);
  }

  /// Makes interleaved channels additional columns.
  void count_channels_as_columns(std::int64_t channels) {
    cols *= channels;
    if (channels > 1) matrix.col_bytes = size_of(matrix.type);
  }
};

}  // namespace

ExactShape exact_shape(const ExactOperand& x_operand, const ExactOperand& y_operand,
                       const PixelView& out_view) {
  const std::int64_t x_channels = x_operand.pixels.channels;
  const std::int64_t y_channels = y_operand.pixels.channels;
  const std::int64_t channels = x_channels * y_channels;  // one of them is 1
  Pixels x(x_operand), y(y_operand), out({out_view});
  ExactShape shape;
  if (out_view.channels == 1) {
    x.count_channels_as_columns(x_channels);
    shape.channels_in_k = y_channels;
    shape.y_channel_bytes = size_of(y.matrix.type);
    y.rows *= y_channels;
  } else if (x_channels > 1) {
    shape.items = channels;
    x.matrix.item_bytes = size_of(x.matrix.type);
    out.matrix.item_bytes = size_of(out.matrix.type);
  } else {  // products with a common x are computed as one
    y.count_channels_as_columns(y_channels);
    out.count_channels_as_columns(out_view.channels);
  }
  const bool channels_fit =
      (x_channels == 1 || y_channels == 1) && (out_view.channels == 1 || out_view.channels == channels);
  const bool one_channel =
      (!x_operand.transposed || x_channels == 1) && (!y_operand.transposed || y_channels == 1);
  if (!channels_fit || !one_channel || x.cols != y.rows || out.rows != x.rows || out.cols != y.cols)
    fail(x_operand, y_operand, out_view);
  shape.m = x.rows;
  shape.n = y.cols;
  shape.k = x.cols;
  shape.x = x.matrix;
  shape.y = y.matrix;
  shape.out = out.matrix;
  return shape;
}

}  // namespace sepconv
