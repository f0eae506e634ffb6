// Software conversion of IEEE 754 binary16.
#pragma once

#include <bit>
#include <cstdint>

namespace sepconv {

/// Exact. A multiplication rebiases the exponent and also converts subnormals.
inline float float_of_half(std::uint16_t half) noexcept {
  const auto magnitude = std::uint32_t{half} & 0x7fffU;
  const float value = std::bit_cast<float>(magnitude << 13) * 0x1p112F;
  const std::uint32_t not_finite = magnitude >= 0x7c00U ? 0x7f800000U : 0U;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) | not_finite |
                              (std::uint32_t{half} & 0x8000U) << 16);
}

/// Rounds half to even; values from 65520 on become infinite. NaNs keep the payload bits that fit.
inline std::uint16_t half_of_float(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  std::uint32_t half;
  if (magnitude > 0x7f800000U) {
    const std::uint32_t payload = magnitude >> 13 & 0x3ffU;
    half = 0x7c00U | (payload != 0 ? payload : 0x200U);
  } else if (magnitude >= 0x477ff000U) {
    half = 0x7c00U;
  } else if (magnitude < 0x38800000U) {  // the spacing below 2^-14 is 2^-24, that of f32 in [1/2, 1)
    half = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) - 0x3f000000U;
  } else {
    half = (magnitude - 0x38000000U + 0xfffU + (magnitude >> 13 & 1U)) >> 13;
  }
  return static_cast<std::uint16_t>(half | (bits >> 16 & 0x8000U));
}

}  // namespace sepconv
