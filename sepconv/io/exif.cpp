#include "sepconv/io/exif.hpp"

#include <cstring>

#include "sepconv/io/byte_order.hpp"

namespace sepconv {
namespace {

constexpr std::uint32_t kOrientation = 0x0112;
constexpr std::uint32_t kNumberOfImages = 0xB001;
constexpr std::uint32_t kShort = 3;
constexpr std::uint32_t kLong = 4;

struct Entry {
  std::uint32_t tag, type, count;
  std::uint32_t value;  ///< the first, of the type's width; an offset where the values do not fit
};

/// Calls `take` for each entry of the first directory; false if there is none.
template <class Take>
bool for_each_entry(std::span<const std::byte> tiff, const Take& take) {
  constexpr std::size_t header_bytes = 8;
  constexpr std::size_t entry_bytes = 12;
  const auto has = [tiff](std::size_t offset, std::size_t count) {
    return offset <= tiff.size() && count <= tiff.size() - offset;
  };
  if (!has(0, header_bytes)) return false;
  const bool big_endian = std::memcmp(tiff.data(), "MM", 2) == 0;
  if (!big_endian && std::memcmp(tiff.data(), "II", 2) != 0) return false;
  const auto number = [&](std::size_t at, std::size_t bytes) {
    return static_cast<std::uint32_t>(number_in(tiff.subspan(at, bytes), big_endian));
  };
  const std::size_t directory = number(4, 4);
  if (number(2, 2) != 42 || !has(directory, 2)) return false;
  const std::size_t entries = directory + 2;
  const std::size_t bytes = number(directory, 2) * entry_bytes;
  if (!has(entries, bytes)) return false;
  for (std::size_t at = entries; at < entries + bytes; at += entry_bytes) {
    const std::uint32_t type = number(at + 2, 2);
    take(Entry{number(at, 2), type, number(at + 4, 4), number(at + 8, type == kShort ? 2 : 4)});
  }
  return true;
}

}  // namespace

Exif read_exif(std::span<const std::byte> tiff) noexcept {
  Exif exif;
  const bool there = for_each_entry(tiff, [&exif](const Entry& entry) {
    if (entry.tag != kOrientation) {
      exif.others = true;
    } else if (entry.type != kShort || entry.count != 1 || entry.value < 1 || entry.value > 8) {
      exif.damaged = true;
    } else {
      exif.orientation = static_cast<std::uint16_t>(entry.value);
    }
  });
  return there && !exif.damaged ? exif : Exif{.damaged = true};
}

std::optional<std::uint32_t> images_of_index(std::span<const std::byte> tiff) noexcept {
  std::optional<std::uint32_t> images;
  for_each_entry(tiff, [&images](const Entry& entry) {
    if (entry.tag == kNumberOfImages && entry.type == kLong && entry.count == 1) images = entry.value;
  });
  return images;
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
