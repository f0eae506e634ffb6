// The operands of exact_gemm as plain matrices. Private to kernels/gemm.
#pragma once

#include "core/host_device.hpp"
#include "kernels/gemm/exact.hpp"

namespace sepconv {

/// Element (row, col) of product `item` is at data + row * row_bytes + col * col_bytes + item * item_bytes.
struct ExactMatrix {
  std::byte* data = nullptr;
  PixelType type = PixelType::f32;
  std::int64_t row_bytes = 0;
  std::int64_t col_bytes = 0;
  std::int64_t item_bytes = 0;

  /// Whether the elements of a row are contiguous.
  bool dense() const noexcept { return col_bytes == size_of(type); }
};

/// `items` products of m x k by k x n.
struct ExactShape {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t items = 1;
  ExactMatrix x, y, out;
  /// Number of rows of y in one image row: its channels, y_channel_bytes apart; 1 unless the sum includes
  /// them.
  std::int64_t channels_in_k = 1;
  std::int64_t y_channel_bytes = 0;

  /// Byte offset of row `index` of y from y.data.
  SEPCONV_HOST_DEVICE std::int64_t y_row_bytes(std::int64_t index) const noexcept {
    if (channels_in_k == 1) return index * y.row_bytes;
    return index / channels_in_k * y.row_bytes + index % channels_in_k * y_channel_bytes;
  }
};

/// Builds the shape. Throws InvalidArgument if the shapes do not match.
ExactShape exact_shape(const ExactOperand& x, const ExactOperand& y, const PixelView& out);

}  // namespace sepconv
