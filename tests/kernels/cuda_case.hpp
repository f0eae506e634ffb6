// Helpers of the CUDA kernels' tests: images surrounded by poison, and sequences of operations.
#pragma once

#include <span>
#include <vector>

#include "kernels/pointwise/pointwise.hpp"
#include "random_image.hpp"

namespace sepconv {

/// An image inside a larger poisoned image: reads and writes outside it are detected, and its rows are not
/// aligned to vectors.
struct FramedImage {
  FramedImage(Extent extent, std::int64_t channels, PixelType type)
      : all({extent.rows + 3, extent.cols + 2}, channels, type), inside{1, 1, extent.rows, extent.cols} {
    all.fill_bytes(0xa5);
  }
  PixelView view() const noexcept { return all.view.crop(inside); }

  Image all;
  Rect inside;  ///< the image's rectangle of `all`
};

/// Whether both are equal, frames included; NaN equals NaN.
inline bool same_pixels(const FramedImage& a, const FramedImage& b) {
  return differing_elements(a.all.view, b.all.view) == 0;
}

/// Whether both are equal byte for byte, including the bytes between the rows.
inline bool same_bytes(const FramedImage& a, const FramedImage& b) {
  return std::memcmp(a.all.buffer.data(), b.all.buffer.data(), a.all.buffer.bytes().size()) == 0;
}

/// Applies the operations to `values` (of the arithmetic type) one by one with the reference, then stores
/// them to `out`.
inline void apply_ops_reference(std::span<const PointwiseOp> fused_ops, Image& values, const PixelView& out,
                                Arithmetic arithmetic) {
  for (const PointwiseOp& op : fused_ops)
    pointwise_reference(op, values.view, values.view, values.view, arithmetic);
  pointwise_reference({}, values.view, values.view, out, arithmetic);
}

inline std::vector<PointwiseOp> random_unary_ops(Random& random, std::int64_t max_ops) {
  using Kind = PointwiseOp::Kind;
  const Kind kinds[] = {Kind::copy,     Kind::scale,     Kind::clamp,
                        Kind::absolute, Kind::threshold, Kind::round_to};
  std::vector<PointwiseOp> ops(static_cast<std::size_t>(random_between(random, 0, max_ops)));
  for (PointwiseOp& op : ops) {
    op = {random_choice(random, kinds), 1.3, 40.7, -3.1, random_choice(random, kPixelTypes)};
    if (op.kind == Kind::clamp) op.p = -90.5;
  }
  return ops;
}

inline PointwiseOp random_binary_op(Random& random) {
  using Kind = PointwiseOp::Kind;
  const Kind kinds[] = {Kind::magnitude, Kind::sum, Kind::difference, Kind::unsharp};
  return {random_choice(random, kinds), 1.7, 12.5, 0, PixelType::f32};
}

}  // namespace sepconv
