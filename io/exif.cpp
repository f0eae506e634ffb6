#include "sepconv/io/exif.hpp"

#include <cstring>

namespace sepconv {
namespace {

constexpr std::uint32_t kOrientation = 0x0112;
constexpr std::uint32_t kShort = 3;

class TiffNumbers {
 public:
  TiffNumbers(std::span<const std::byte> bytes, bool big_endian) : bytes_(bytes), big_endian_(big_endian) {}

  bool has(std::size_t offset, std::size_t count) const {
    return offset <= bytes_.size() && count <= bytes_.size() - offset;
  }
  std::uint32_t u16(std::size_t at) const {
    const auto first = std::to_integer<std::uint32_t>(bytes_[at]);
    const auto second = std::to_integer<std::uint32_t>(bytes_[at + 1]);
    return big_endian_ ? first << 8 | second : second << 8 | first;
  }
  std::uint32_t u32(std::size_t at) const {
    return big_endian_ ? u16(at) << 16 | u16(at + 2) : u16(at + 2) << 16 | u16(at);
  }

 private:
  std::span<const std::byte> bytes_;
  bool big_endian_;
};

}  // namespace

Exif read_exif(std::span<const std::byte> tiff) noexcept {
  constexpr std::size_t header_bytes = 8;
  constexpr std::size_t entry_bytes = 12;
  const Exif damaged{.damaged = true};
  if (tiff.size() < header_bytes) return damaged;
  const bool big_endian = std::memcmp(tiff.data(), "MM", 2) == 0;
  if (!big_endian && std::memcmp(tiff.data(), "II", 2) != 0) return damaged;
  const TiffNumbers numbers(tiff, big_endian);
  const std::size_t directory = numbers.u32(4);
  if (numbers.u16(2) != 42 || !numbers.has(directory, 2)) return damaged;
  const std::size_t count = numbers.u16(directory);
  const std::size_t entries = directory + 2;
  if (!numbers.has(entries, count * entry_bytes)) return damaged;
  Exif exif;
  for (std::size_t entry = entries; entry < entries + count * entry_bytes; entry += entry_bytes) {
    if (numbers.u16(entry) != kOrientation) {
      exif.others = true;
      continue;
    }
    const std::uint32_t value = numbers.u16(entry + 8);
    if (numbers.u16(entry + 2) != kShort || numbers.u32(entry + 4) != 1 || value < 1 || value > 8)
      return damaged;
    exif.orientation = static_cast<std::uint16_t>(value);
  }
  return exif;
}

std::array<std::byte, kExifBytes> exif_of(std::uint16_t orientation) noexcept {
  constexpr unsigned char start[] = {'M', 'M',  0, 42,     0, 0, 0, 8,  // header; the directory is at byte 8
                                     0,   1,                            // one entry
                                     1,   0x12, 0, kShort, 0, 0, 0, 1};
  std::array<std::byte, kExifBytes> exif{};  // zeros to fill the value, and for no further directory
  std::memcpy(exif.data(), start, sizeof start);
  exif[sizeof start + 1] = static_cast<std::byte>(orientation);
  return exif;
}

}  // namespace sepconv
