// The second stage of JPEG decoding: samples from coefficients, bit-identical to libjpeg's JDCT_ISLOW. It is
// the algorithm of Loeffler, Ligtenberg and Moschytz ("Practical fast 1-D DCT algorithms with 11
// multiplications", ICASSP 1989) in fixed-point arithmetic: constants have 13 fractional bits and values
// between the passes 2, which determine the rounding. The same source for a GPU and for a host thread.
#pragma once

#include <cstdint>

#include "core/host_device.hpp"
#include "kernels/jpeg/geometry.hpp"

namespace sepconv::jpeg {

inline constexpr int kConstantBits = 13, kPassBits = 2;
/// Limits of the values between the passes and of the results before clamping. Within them, 16-bit and 32-bit
/// implementations give the same results; values beyond them do not occur in real images and are refused.
inline constexpr std::int32_t kMaxIntermediate = 16383, kMaxResult = 511;

/// One-dimensional inverse DCT of eight values; the results have kConstantBits more fractional bits.
SEPCONV_HOST_DEVICE inline void inverse_dct_8(const std::int32_t (&in)[kSide], std::int32_t (&out)[kSide]) {
  constexpr std::int32_t k0298 = 2446, k0390 = 3196, k0541 = 4433, k0765 = 6270, k0899 = 7373, k1175 = 9633,
                         k1501 = 12299, k1847 = 15137, k1961 = 16069, k2053 = 16819, k2562 = 20995,
                         k3072 = 25172;
  const std::int32_t even_sum = (in[2] + in[6]) * k0541;
  const std::int32_t even2 = even_sum - in[6] * k1847, even3 = even_sum + in[2] * k0765;
  const std::int32_t even0 = (in[0] + in[4]) * (1 << kConstantBits);
  const std::int32_t even1 = (in[0] - in[4]) * (1 << kConstantBits);
  const std::int32_t even[4] = {even0 + even3, even1 + even2, even1 - even2, even0 - even3};
  const std::int32_t odd_sum = (in[7] + in[3] + in[5] + in[1]) * k1175;
  const std::int32_t z1 = (in[7] + in[1]) * -k0899, z2 = (in[5] + in[3]) * -k2562;
  const std::int32_t z3 = (in[7] + in[3]) * -k1961 + odd_sum, z4 = (in[5] + in[1]) * -k0390 + odd_sum;
  const std::int32_t odd[4] = {in[1] * k1501 + (z1 + z4), in[3] * k3072 + (z2 + z3),
                               in[5] * k2053 + (z2 + z4), in[7] * k0298 + (z1 + z3)};
  for (int i = 0; i < 4; ++i) {
    out[i] = even[i] + odd[i];
    out[kSide - 1 - i] = even[i] - odd[i];
  }
}

/// Shifts right, rounding half up.
template <int kBits>
SEPCONV_HOST_DEVICE std::int32_t rounded_shift(std::int32_t value) {
  return (value + (1 << (kBits - 1))) >> kBits;
}

SEPCONV_HOST_DEVICE inline bool is_within(std::int32_t value, std::int32_t max_value) {
  return value >= -max_value - 1 && value <= max_value;
}

/// First pass: transforms a column of a block's coefficients into that column of `intermediate`, whose rows
/// are `pitch` apart. Returns false if the values are refused.
SEPCONV_HOST_DEVICE inline bool inverse_dct_column(const std::int16_t* block, int col,
                                                   std::int32_t* intermediate, int pitch) {
  std::int32_t in[kSide], out[kSide];
  for (int row = 0; row < kSide; ++row) in[row] = block[row * kSide + col];
  inverse_dct_8(in, out);
  bool good = true;
  for (int row = 0; row < kSide; ++row) {
    const std::int32_t value = rounded_shift<kConstantBits - kPassBits>(out[row]);
    good = good && is_within(value, kMaxIntermediate);
    intermediate[row * pitch + col] = value;
  }
  return good;
}

/// Second pass: transforms a row of `intermediate` into eight samples. Returns false if the values are
/// refused.
SEPCONV_HOST_DEVICE inline bool inverse_dct_row(const std::int32_t* row, std::uint8_t* to) {
  std::int32_t in[kSide], out[kSide];
  for (int col = 0; col < kSide; ++col) in[col] = row[col];
  inverse_dct_8(in, out);
  bool good = true;
  for (int col = 0; col < kSide; ++col) {
    const std::int32_t value = rounded_shift<kConstantBits + kPassBits + 3>(out[col]);
    good = good && is_within(value, kMaxResult);
    const std::int32_t sample = value + 128;
    to[col] = static_cast<std::uint8_t>(sample < 0 ? 0 : sample > 255 ? 255 : sample);
  }
  return good;
}

/// Transforms a block in place: 64 samples overwrite half of the coefficients. Returns false if it is
/// refused.
inline bool inverse_dct(std::byte* block) {
  std::int32_t intermediate[kCoefficients];
  bool good = true;
  for (int col = 0; col < kSide; ++col)
    good = inverse_dct_column(reinterpret_cast<const std::int16_t*>(block), col, intermediate, kSide) && good;
  for (int row = 0; row < kSide && good; ++row)
    good = inverse_dct_row(intermediate + row * kSide, reinterpret_cast<std::uint8_t*>(block) + row * kSide);
  return good;
}

}  // namespace sepconv::jpeg
