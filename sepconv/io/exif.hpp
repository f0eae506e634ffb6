// The one field of EXIF that we keep: how a viewer should turn the image.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace sepconv {

struct Exif {
  std::uint16_t orientation = 1;  ///< as Metadata's
  bool others = false;            ///< whether there are fields beside it
  bool damaged = false;           ///< then nothing of it is to be believed
};

/// EXIF is a small TIFF (CIPA DC-008, 4.5.2), here without what formats put before it. Believes no offset and
/// no count.
Exif read_exif(std::span<const std::byte> tiff) noexcept;

/// How many images a JPEG says it has, in the index of its APP2 segment "MPF" (CIPA DC-007, 5.2.3), which is
/// such a TIFF too.
std::optional<std::uint32_t> images_of_index(std::span<const std::byte> tiff) noexcept;

/// EXIF with nothing but an orientation.
inline constexpr std::size_t kExifBytes = 26;
std::array<std::byte, kExifBytes> exif_of(std::uint16_t orientation) noexcept;

}  // namespace sepconv
