// Numbers in a BMP's headers, from a file at an offset.
#pragma once

#include <array>
#include <cstdint>

#include "sepconv/io/file.hpp"

namespace sepconv {

/// N bytes of a file from an offset on, read as numbers. Throws IoError when the file ends before.
template <std::size_t N>
class HeaderBytes {
 public:
  HeaderBytes(const InputFile& file, std::int64_t offset) { file.read_at(offset, bytes_); }

  std::uint32_t u8(std::size_t at) const { return std::to_integer<std::uint32_t>(bytes_[at]); }
  std::uint32_t little16(std::size_t at) const { return u8(at) | u8(at + 1) << 8; }
  std::uint32_t little32(std::size_t at) const { return little16(at) | little16(at + 2) << 16; }

 private:
  std::array<std::byte, N> bytes_{};
};

}  // namespace sepconv
