// Bits to bytes, lowest first, as deflate packs them (RFC 1951, 3.1.1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace sepconv::deflate {

/// Writes to `out` up to 8 bytes beyond the last bit; the caller provides for the room. Between calls fewer
/// than 8 bits are held.
struct BitSink {
  std::byte* out;
  std::uint64_t held = 0;
  unsigned count = 0;

  /// At most 56 bits; those of `code` above `bits` are 0.
  void put(std::uint64_t code, unsigned bits) noexcept {
    held |= code << count;
    std::memcpy(out, &held, sizeof held);
    const unsigned total = count + bits;
    out += total / 8;
    held >>= total & ~7u;
    count = total % 8;
  }

  /// Zeros up to the next byte.
  void align() noexcept {
    if (count > 0) put(0, 8 - count);
  }
};

}  // namespace sepconv::deflate
