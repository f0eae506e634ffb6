// Checksums of zlib and gzip. CRC-32 of gzip (RFC 1952, 8), computed by many threads: a sum over the words of
// a message, each multiplied by a power of x. The coefficient of x^0 of a polynomial is the highest bit.
#pragma once

#include <cstdint>

#include "core/deflate/prefix_code.hpp"
#include "core/host_device.hpp"

namespace sepconv::deflate {

inline constexpr std::uint32_t kAdlerBase = 65521;  // RFC 1950, 8.2

}  // namespace sepconv::deflate

namespace sepconv::crc32 {

inline constexpr std::uint32_t kOne = 1U << 31, kAll = 0xFFFFFFFF;

/// The product modulo the generator polynomial.
SEPCONV_HOST_DEVICE inline std::uint32_t multiply(std::uint32_t a, std::uint32_t b) {
  constexpr std::uint32_t kGenerator = 0xEDB88320;
  std::uint32_t product = 0;
  for (std::uint32_t bit = kOne; bit != 0; bit >>= 1) {
    if ((a & bit) != 0) product ^= b;
    b = b >> 1 ^ ((b & 1) != 0 ? kGenerator : 0);
  }
  return product;
}

/// x^n modulo the generator polynomial.
SEPCONV_HOST_DEVICE inline std::uint32_t power(std::uint64_t n) {
  std::uint32_t result = kOne;
  for (std::uint32_t square = kOne >> 1; n != 0; n >>= 1, square = multiply(square, square))
    if ((n & 1) != 0) result = multiply(result, square);
  return result;
}

/// Products with a fixed number, indexed by the bytes of the other factor.
using Products = std::uint32_t[4][256];
SEPCONV_HOST_DEVICE inline std::uint32_t product(const Products& products, std::uint32_t value) {
  return products[0][value & 0xFF] ^ products[1][value >> 8 & 0xFF] ^ products[2][value >> 16 & 0xFF] ^
         products[3][value >> 24];
}

/// The partial sum of thread `index` of `threads`: every `threads`-th word of a message that is preceded by
/// zeros to give all threads the same number of words. `products` are those with power(32 * threads).
SEPCONV_HOST_DEVICE inline std::uint32_t part(const std::uint8_t* message, std::int64_t bytes,
                                              std::int64_t index, std::int64_t threads,
                                              const Products& products) {
  const std::int64_t round = 4 * threads, zeros = (round - bytes % round) % round;
  std::uint32_t sum = 0;
  for (std::int64_t at = 4 * index - zeros; at < bytes; at += round) {
    std::uint32_t word = 0;
    for (int i = 0; i < 4; ++i)
      if (at + i >= 0) word |= std::uint32_t{message[at + i]} << 8 * i;
    sum = product(products, sum) ^ word;
  }
  return multiply(sum, power(static_cast<std::uint64_t>(32 * (threads - index))));
}

/// The checksum, from the sum of all parts.
SEPCONV_HOST_DEVICE inline std::uint32_t whole(std::uint32_t sum, std::int64_t bytes) {
  return sum ^ multiply(kAll, power(static_cast<std::uint64_t>(8 * bytes))) ^ kAll;
}

}  // namespace sepconv::crc32
