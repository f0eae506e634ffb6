// The third stage of JPEG decoding: pixels from samples, bit-identical to libjpeg with `do_fancy_upsampling`.
// Chroma is interpolated with a triangle filter (weights 3/4 and 1/4) in both directions, and YCbCr is
// converted to RGB by ITU-R BT.601 in integers with 16 fractional bits. The same source for a GPU and for a
// host thread.
#pragma once

#include <cstdint>

#include "core/host_device.hpp"
#include "kernels/jpeg/geometry.hpp"

namespace sepconv::jpeg {

/// The samples of a component, in blocks.
struct Plane {
  const std::uint8_t* blocks;
  std::int32_t blocks_across;
  std::int32_t rows, cols;  ///< samples inside the image

  SEPCONV_HOST_DEVICE int at(std::int32_t row, std::int32_t col) const {
    const std::int64_t block = std::int64_t{row / kSide} * blocks_across + col / kSide;
    return blocks[block * kBlockBytes + row % kSide * kSide + col % kSide];
  }
};

SEPCONV_HOST_DEVICE inline Plane plane_of(const std::byte* samples, const Geometry& geometry, int component) {
  const std::int32_t across = component == 0 ? 1 : geometry.across, down = component == 0 ? 1 : geometry.down;
  return {reinterpret_cast<const std::uint8_t*>(samples) + geometry.first_block(component) * kBlockBytes,
          geometry.blocks_across(component), (geometry.rows + down - 1) / down,
          (geometry.cols + across - 1) / across};
}

/// Chroma if two pixels in a row share a sample.
SEPCONV_HOST_DEVICE inline int upsample_columns(const Plane& plane, std::int32_t row, std::int32_t col) {
  const std::int32_t near = col / 2, other = col % 2 == 0 ? near - 1 : near + 1;
  const int sample = plane.at(row, near);
  if (other < 0 || other >= plane.cols) return sample;
  return (3 * sample + plane.at(row, other) + 1 + col % 2) >> 2;
}

/// Chroma if four pixels share a sample; the first and the last row are replicated at the edges.
SEPCONV_HOST_DEVICE inline int upsample_rows_and_columns(const Plane& plane, std::int32_t row,
                                                         std::int32_t col) {
  const std::int32_t near_row = row / 2, next_row = row % 2 == 0 ? near_row - 1 : near_row + 1;
  const std::int32_t other_row = next_row < 0 ? 0 : next_row < plane.rows ? next_row : plane.rows - 1;
  const auto sum = [&](std::int32_t at) { return 3 * plane.at(near_row, at) + plane.at(other_row, at); };
  const std::int32_t near = col / 2, other = col % 2 == 0 ? near - 1 : near + 1;
  const int near_sum = sum(near), far_sum = other < 0 || other >= plane.cols ? near_sum : sum(other);
  return (3 * near_sum + far_sum + 8 - col % 2) >> 4;
}

SEPCONV_HOST_DEVICE inline int chroma_at(const Plane& plane, const Geometry& geometry, std::int32_t row,
                                         std::int32_t col) {
  const bool is_narrow = plane.cols <= 2;  // libjpeg repeats samples then
  if (geometry.across == 1 || is_narrow) return plane.at(row / geometry.down, col / geometry.across);
  return geometry.down == 1 ? upsample_columns(plane, row, col) : upsample_rows_and_columns(plane, row, col);
}

SEPCONV_HOST_DEVICE inline std::uint8_t to_byte(int value) {
  return static_cast<std::uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
}

/// Writes a pixel with interleaved components; YCbCr is converted to RGB.
SEPCONV_HOST_DEVICE inline void put_pixel(const std::byte* samples, const Geometry& geometry, bool is_ycbcr,
                                          std::int32_t row, std::int32_t col, std::uint8_t* to) {
  const int first = plane_of(samples, geometry, 0).at(row, col);
  if (geometry.components == 1) {
    to[0] = static_cast<std::uint8_t>(first);
    return;
  }
  const int second = chroma_at(plane_of(samples, geometry, 1), geometry, row, col);
  const int third = chroma_at(plane_of(samples, geometry, 2), geometry, row, col);
  if (!is_ycbcr) {
    to[0] = static_cast<std::uint8_t>(first);
    to[1] = static_cast<std::uint8_t>(second);
    to[2] = static_cast<std::uint8_t>(third);
    return;
  }
  constexpr int kHalf = 1 << 15;
  constexpr int kRedOfCr = 91881, kGreenOfCb = 22554, kGreenOfCr = 46802, kBlueOfCb = 116130;  // 1.402 ...
  const int cb = second - 128, cr = third - 128;
  to[0] = to_byte(first + ((kRedOfCr * cr + kHalf) >> 16));
  to[1] = to_byte(first + ((kHalf - kGreenOfCb * cb - kGreenOfCr * cr) >> 16));
  to[2] = to_byte(first + ((kBlueOfCb * cb + kHalf) >> 16));
}

}  // namespace sepconv::jpeg
