// EXIF (CIPA DC-008): metadata of photographs, stored as a small TIFF within the file.
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

/// The directories of EXIF, without tags about pixel storage and orientation, thumbnails and pointers.
struct Exif {
  std::vector<RawTag> image, photo, place, interoperability;  ///< IFD 0, Exif, GPS, Interoperability
  /// Offset of the maker note from the beginning of EXIF, because the note may contain such offsets itself. 0
  /// without a maker note.
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
  std::uint16_t orientation = 1;  ///< as Metadata::orientation
  bool damaged = false;           ///< nothing of it may be used
  bool lost = false;              ///< a directory other than the first is damaged and ignored
};

/// Reads EXIF from its TIFF header on, without the prefix that some formats add. Checks all offsets and
/// counts.
ExifRead read_exif(std::span<const std::byte> tiff);

/// The number of images of a JPEG according to the index in its APP2 segment "MPF" (CIPA DC-007, 5.2.3),
/// which is a TIFF, too.
std::optional<std::uint32_t> mpf_image_count(std::span<const std::byte> tiff) noexcept;

/// Encodes EXIF for an image of this extent and orientation.
std::vector<std::byte> encode_exif(const Exif& exif, std::uint16_t orientation, Extent image);

/// Directories for a TIFF, whose first directory is IFD 0, encoded for a given offset in the file.
struct ExifInTiff {
  std::vector<std::byte> bytes{};
  std::uint64_t photo = 0, place = 0;  ///< offsets of the Exif and GPS directories in the TIFF, or 0
};
ExifInTiff encode_exif_for_tiff(const Exif& exif, Extent image, std::uint64_t offset, bool big_tiff);

/// Removes the size of pixels, which is wrong for a result of another scale.
void drop_resolution(Exif& exif);

/// Whether a tag of IFD 0 is kept.
bool is_retained_exif_tag(std::uint32_t tag) noexcept;
/// Bytes of a value of a TIFF field type, and of its words in byte order; 0 for an unknown type.
struct FieldWidth {
  std::size_t value = 0, word = 0;
};
FieldWidth field_width(std::uint16_t type) noexcept;

}  // namespace sepconv
