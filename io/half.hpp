// IEEE 754's binary16, without processors or compilers that know it.
#pragma once

#include <bit>
#include <cstdint>

namespace sepconv {

/// Exact. The exponent gets its new bias by a product, which makes numbers of subnormals as well.
inline float float_of_half(std::uint16_t half) noexcept {
  const auto magnitude = std::uint32_t{half} & 0x7fffU;
  const float value = std::bit_cast<float>(magnitude << 13) * 0x1p112F;
  const std::uint32_t not_finite = magnitude >= 0x7c00U ? 0x7f800000U : 0U;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) | not_finite |
                              (std::uint32_t{half} & 0x8000U) << 16);
}

/// Rounded half to even; infinite from 65520 on. NaNs keep the bits that there is room for.
inline std::uint16_t half_of_float(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  std::uint32_t half;
  if (magnitude > 0x7f800000U) {
    const std::uint32_t payload = magnitude >> 13 & 0x3ffU;
    half = 0x7c00U | (payload != 0 ? payload : 0x200U);
  } else if (magnitude >= 0x477ff000U) {
    half = 0x7c00U;
  } else if (magnitude < 0x38800000U) {  // below 2^-14 units are 2^-24, those of f32 between 1/2 and 1
    half = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) - 0x3f000000U;
  } else {
    half = (magnitude - 0x38000000U + 0xfffU + (magnitude >> 13 & 1U)) >> 13;
  }
  return static_cast<std::uint16_t>(half | (bits >> 16 & 0x8000U));
}

}  // namespace sepconv
