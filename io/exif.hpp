// EXIF (CIPA DC-008): what cameras and those who file photographs say of them, as a small TIFF that files
// carry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/geometry.hpp"
#include "io/raw_tag.hpp"

namespace sepconv {

/// Its directories, without what says how pixels are stored or turned, thumbnails and pointers.
struct Exif {
  std::vector<RawTag> image, photo, place, interoperability;  ///< IFD 0, Exif, GPS, Interoperability
  /// Where the maker note lay: it may hold places of its own, counted from the beginning of EXIF. 0: it has
  /// none.
  std::uint32_t maker_note_offset = 0;

  bool empty() const noexcept {
    return image.empty() && photo.empty() && place.empty() && interoperability.empty();
  }
  std::int64_t bytes() const noexcept;
  friend bool operator==(const Exif&, const Exif&) = default;
};

inline constexpr std::uint32_t kExifPointer = 34665, kGpsPointer = 34853, kInteroperabilityPointer = 40965;
inline constexpr std::uint32_t kMakerNote = 37500;

struct ExifRead {
  Exif exif{};
  std::uint16_t orientation = 1;  ///< as Metadata's
  bool damaged = false;           ///< then nothing of it is to be believed
  bool lost = false;              ///< a directory besides the first is damaged, and left out
};

/// For what formats put something before, without that. Believes no offset and no count.
ExifRead read_exif(std::span<const std::byte> tiff);

/// How many images a JPEG says it has, in the index of its APP2 segment "MPF" (CIPA DC-007, 5.2.3), which is
/// such a TIFF too.
std::optional<std::uint32_t> images_of_index(std::span<const std::byte> tiff) noexcept;

/// EXIF of a file with an image of this extent and orientation.
std::vector<std::byte> exif_of(const Exif& exif, std::uint16_t orientation, Extent image);

/// For a TIFF, whose own directory is IFD 0: the others as they lie from this offset of it on, and where.
struct ExifInTiff {
  std::vector<std::byte> bytes{};
  std::uint64_t photo = 0, place = 0;  ///< offsets in the TIFF; 0: there is none
};
ExifInTiff exif_in_tiff(const Exif& exif, Extent image, std::uint64_t offset, bool big_tiff);

/// Without the size of pixels, which a result of another scale does not have.
void drop_resolution(Exif& exif);

/// Whether a tag of a directory is kept.
bool is_kept_of_exif(std::uint32_t tag) noexcept;
/// Bytes of a value of TIFF's field type, and of the words in it that have a byte order; 0: there is no such
/// type.
struct FieldWidth {
  std::size_t value = 0, word = 0;
};
FieldWidth width_of_field(std::uint16_t type) noexcept;

}  // namespace sepconv
