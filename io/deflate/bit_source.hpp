// Unpacks bits from bytes, lowest bit first, as deflate packs them (RFC 1951, 3.1.1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace sepconv::deflate {

/// After the last byte zeros follow; overrun() returns whether any were consumed.
struct BitSource {
  const std::byte *in, *end;
  std::uint64_t pending = 0;  ///< the next bits; bits above `count` may be valid, too
  unsigned count = 0;
  unsigned zero_bytes = 0;  ///< zero bytes appended to `pending` after the end of the input

  explicit BitSource(std::span<const std::byte> bytes) noexcept
      : in(bytes.data()), end(bytes.data() + bytes.size()) {}

  /// Buffers at least 56 bits. At least 8 input bytes must remain.
  void refill_from_8() noexcept {
    std::uint64_t next;
    std::memcpy(&next, in, sizeof next);
    pending |= next << count;
    in += (63 - count) / 8;
    count |= 56;
  }

  /// Buffers at least 56 bits, for any number of remaining bytes.
  void refill() noexcept {
    if (end - in >= 8) return refill_from_8();
    for (; count < 56; count += 8) {
      if (in < end) {
        pending |= std::to_integer<std::uint64_t>(*in++) << count;
      } else {
        pending &= (std::uint64_t{1} << count) - 1;
        ++zero_bytes;
      }
    }
  }

  void drop(unsigned bits) noexcept {
    pending >>= bits;
    count -= bits;
  }

  /// Consumes and returns `bits` bits, at most 32, after a refill.
  unsigned read(unsigned bits) noexcept {
    const auto value = static_cast<unsigned>(pending & ((std::uint64_t{1} << bits) - 1));
    drop(bits);
    return value;
  }

  bool overrun() const noexcept { return zero_bytes > count / 8; }

  /// Drops the rest of the current byte and returns whole buffered bytes to the input. Invalid after an
  /// overrun.
  void align() noexcept {
    in -= count / 8 - zero_bytes;
    pending = 0;
    count = zero_bytes = 0;
  }
};

}  // namespace sepconv::deflate
