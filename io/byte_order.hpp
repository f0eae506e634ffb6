// Integers in big-endian or little-endian byte order, independent of the machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace sepconv {

/// Reads an unsigned integer of at most 8 bytes.
inline std::uint64_t read_unsigned(std::span<const std::byte> bytes, bool big_endian) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    value = value << 8 | std::to_integer<std::uint64_t>(bytes[big_endian ? i : bytes.size() - 1 - i]);
  return value;
}

inline std::uint32_t big32(std::span<const std::byte> bytes) {
  return static_cast<std::uint32_t>(read_unsigned(bytes.first(4), true));
}

}  // namespace sepconv
