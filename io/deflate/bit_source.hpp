// Bytes to bits, lowest first, as deflate packs them (RFC 1951, 3.1.1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace sepconv::deflate {

/// Behind the last byte come zeros; overrun() says whether they were taken.
struct BitSource {
  const std::byte *in, *end;
  std::uint64_t held = 0;  ///< the next bits; above `count` there may be more of them
  unsigned count = 0;
  unsigned beyond = 0;  ///< bytes of zeros among those that are held or were taken

  explicit BitSource(std::span<const std::byte> bytes) noexcept
      : in(bytes.data()), end(bytes.data() + bytes.size()) {}

  /// Makes 56 bits or more; 8 bytes must be there.
  void refill_from_8() noexcept {
    std::uint64_t next;
    std::memcpy(&next, in, sizeof next);
    held |= next << count;
    in += (63 - count) / 8;
    count |= 56;
  }

  /// The same, whatever is there.
  void refill() noexcept {
    if (end - in >= 8) return refill_from_8();
    for (; count < 56; count += 8) {
      if (in < end) {
        held |= std::to_integer<std::uint64_t>(*in++) << count;
      } else {
        held &= (std::uint64_t{1} << count) - 1;
        ++beyond;
      }
    }
  }

  void drop(unsigned bits) noexcept {
    held >>= bits;
    count -= bits;
  }

  /// At most 32 bits, after a refill.
  unsigned take(unsigned bits) noexcept {
    const auto taken = static_cast<unsigned>(held & ((std::uint64_t{1} << bits) - 1));
    drop(bits);
    return taken;
  }

  bool overrun() const noexcept { return beyond > count / 8; }

  /// Drops what is left of a byte, and gives back those that are whole; not after an overrun.
  void align() noexcept {
    in -= count / 8 - beyond;
    held = 0;
    count = beyond = 0;
  }
};

}  // namespace sepconv::deflate
