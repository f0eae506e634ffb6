// Packs bits into bytes, lowest bit first, as deflate does (RFC 1951, 3.1.1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace sepconv::deflate {

/// Writes up to 8 bytes beyond the last bit, for which the caller provides space. Between calls fewer than 8
/// bits are buffered.
struct BitSink {
  std::byte* out;
  std::uint64_t pending = 0;
  unsigned count = 0;

  /// Appends `bits` bits, at most 56. Higher bits of `code` must be 0.
  void put(std::uint64_t code, unsigned bits) noexcept {
    pending |= code << count;
    std::memcpy(out, &pending, sizeof pending);
    const unsigned total = count + bits;
    out += total / 8;
    pending >>= total & ~7u;
    count = total % 8;
  }

  /// Appends zeros up to the next byte boundary.
  void align() noexcept {
    if (count > 0) put(0, 8 - count);
  }
};

}  // namespace sepconv::deflate
