// Matches in the bytes of an image, which need no search: where they begin, and their symbols (RFC 1951,
// 3.2.5). The same source for the CPU and the GPU encoder, which produce the same bytes.
#pragma once

#include <bit>
#include <cstdint>

#include "core/deflate/prefix_code.hpp"
#include "core/host_device.hpp"

namespace sepconv::deflate {

/// Minimum length of a match that is used, and maximum distance.
inline constexpr std::int64_t kMinMatch = 16, kMaxDistance = 32768;

/// Layout of the bytes of an image.
struct MatchDistances {
  std::int64_t pixel_bytes = 1, row_bytes = 0;

  /// Distance to the previous pixel, and to the row above. If a row is longer than the maximum distance, both
  /// are the same.
  SEPCONV_HOST_DEVICE std::int64_t pixel_distance() const { return reachable(pixel_bytes) ? pixel_bytes : 1; }
  SEPCONV_HOST_DEVICE std::int64_t row_distance() const {
    return reachable(row_bytes) ? row_bytes : pixel_distance();
  }
  SEPCONV_HOST_DEVICE static bool reachable(std::int64_t distance) {
    return distance >= 1 && distance <= kMaxDistance;
  }
  friend bool operator==(const MatchDistances&, const MatchDistances&) = default;
};

/// Bits at which kMinMatch consecutive bits are set; `next` is the word after `bits`.
SEPCONV_HOST_DEVICE inline std::uint64_t match_starts(std::uint64_t bits, std::uint64_t next) {
  static_assert(kMinMatch == 16);
  for (int shift = 1; shift < kMinMatch; shift *= 2) {
    bits &= bits >> shift | next << (64 - shift);
    next &= next >> shift;
  }
  return bits;
}

/// The symbol and the extra bits of a length or a distance.
struct Value {
  unsigned symbol, extra_bits, extra;
};

SEPCONV_HOST_DEVICE inline unsigned width_of(unsigned value) {
#ifdef __CUDA_ARCH__
  return 32 - static_cast<unsigned>(__clz(static_cast<int>(value)));
#else
  return static_cast<unsigned>(std::bit_width(value));
#endif
}

/// Symbols are in groups of `1 << kGroupBits`; each group after the first two has one more extra bit.
template <unsigned kGroupBits>
SEPCONV_HOST_DEVICE Value grouped(unsigned value) {
  const unsigned width = width_of(value);
  const unsigned extra_bits = width > kGroupBits + 1 ? width - kGroupBits - 1 : 0;
  const unsigned group = value >> extra_bits;
  return {(extra_bits << kGroupBits) + group, extra_bits, value - (group << extra_bits)};
}
template <unsigned kGroupBits>
SEPCONV_HOST_DEVICE unsigned extra_bits_of(unsigned symbol) {
  return symbol >> kGroupBits > 1 ? (symbol >> kGroupBits) - 1 : 0;
}

SEPCONV_HOST_DEVICE inline Value length_value(std::int64_t length) {
  if (length == 258) return {285, 0, 0};
  Value value = grouped<2>(static_cast<unsigned>(length - 3));
  value.symbol += 257;
  return value;
}
SEPCONV_HOST_DEVICE inline unsigned length_extra_bits(unsigned symbol) {
  return symbol < 257 || symbol == 285 ? 0 : extra_bits_of<2>(symbol - 257);
}
SEPCONV_HOST_DEVICE inline Value distance_value(std::int64_t distance) {
  return grouped<1>(static_cast<unsigned>(distance - 1));
}

/// Calls `visit` with the lengths that a match is split into: 3 to 258 each.
template <class Visit>
SEPCONV_HOST_DEVICE void for_each_part(std::int64_t length, const Visit& visit) {
  while (length > 258) {
    const std::int64_t part = length < 258 + 3 ? length - 3 : 258;
    visit(part);
    length -= part;
  }
  visit(length);
}

}  // namespace sepconv::deflate
