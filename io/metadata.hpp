// What an image file carries beside its pixels and what of it goes along to a result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sepconv {

/// Pixels per unit, as TIFF stores them.
struct Resolution {
  double x = 0;
  double y = 0;
  enum class Unit : std::uint8_t { none = 1, inch = 2, centimetre = 3 } unit = Unit::inch;
  friend bool operator==(const Resolution&, const Resolution&) = default;
};

/// A TIFF tag carried along unread, such as the GeoTIFF tags: `type` is TIFF's field type, `data` in native
/// byte order.
struct RawTag {
  std::uint32_t tag = 0;
  std::uint16_t type = 0;
  std::uint64_t count = 0;
  std::vector<std::byte> data;
  friend bool operator==(const RawTag&, const RawTag&) = default;
};

/// How the samples are meant: TIFF's photometric interpretation without the cases that decode to another.
enum class Photometric : std::uint8_t { min_is_white, min_is_black, rgb, cmyk, cielab };

struct Metadata {
  std::optional<Resolution> resolution;
  std::uint16_t orientation =
      1;  ///< TIFF's Orientation, 1 to 8: how a viewer should turn the rows and columns as stored
  std::vector<std::byte> icc_profile;
  std::string description;
  std::string software, date_time, artist, copyright;
  std::vector<RawTag> geo_tags;  ///< 33550, 33922, 34264, 34735-34737, GDAL's 42112 and 42113
  std::optional<Photometric> photometric;
  std::vector<std::uint16_t> extra_samples;  ///< TIFF's ExtraSamples values: which channels are alpha

  /// What still holds after a change of shape or of type: position, orientation and resolution fall when the
  /// extent changes; profile, photometric and extra samples when the number of channels does; a description
  /// that states the shape or type (OME-XML, ImageJ, shaped JSON) when any of them does.
  Metadata kept_for(bool same_extent, bool same_channels, bool same_type) const;
};

}  // namespace sepconv
