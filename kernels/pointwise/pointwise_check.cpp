#include "kernels/pointwise/pointwise_check.hpp"

#include <fmt/format.h>

#include "core/error.hpp"

namespace sepconv {
namespace {

void check_same_shape(const ConstPixelView& in, const PixelView& out) {
  if (in.extent != out.extent || in.channels != out.channels) {
    throw InvalidArgument(fmt::format(
        "a pointwise operation from {} x {} pixels of {} channels cannot make {} x {} of {}: give equal "
        "shapes",
        in.extent.rows, in.extent.cols, in.channels, out.extent.rows, out.extent.cols, out.channels));
  }
}

}  // namespace

void check_pointwise(const PointwiseOp& op, const ConstPixelView& a, const ConstPixelView& b,
                     const PixelView& out) {
  check_same_shape(a, out);
  if (op.binary()) check_same_shape(b, out);
}

void check_alpha(const AlphaOp& op, const ConstPixelView& in, const PixelView& out) {
  check_same_shape(in, out);
  if (op.channel < 0 || op.channel >= in.channels)
    throw InvalidArgument(
        fmt::format("channel {} cannot be the alpha of an image of {}", op.channel, in.channels));
}

void check_mix_channels(const ChannelMatrix& matrix, const ConstPixelView& in, const PixelView& out) {
  if (in.extent != out.extent) {
    throw InvalidArgument(
        fmt::format("mixing the channels of {} x {} pixels cannot make {} x {}: give equal extents",
                    in.extent.rows, in.extent.cols, out.extent.rows, out.extent.cols));
  }
  if (matrix.in_channels != in.channels || matrix.out_channels != out.channels) {
    throw InvalidArgument(
        fmt::format("a matrix from {} to {} channels does not fit images of {} and {} channels",
                    matrix.in_channels, matrix.out_channels, in.channels, out.channels));
  }
  const auto coefficients = static_cast<std::int64_t>(matrix.coefficients.size());
  const auto offsets = static_cast<std::int64_t>(matrix.offsets.size());
  if (coefficients != matrix.out_channels * matrix.in_channels || offsets != matrix.out_channels) {
    throw InvalidArgument(
        fmt::format("a matrix from {} to {} channels has {} coefficients and {} offsets: give {} and {}",
                    matrix.in_channels, matrix.out_channels, coefficients, offsets,
                    matrix.out_channels * matrix.in_channels, matrix.out_channels));
  }
}

}  // namespace sepconv
