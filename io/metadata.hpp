// Metadata of an image file, and how they are updated for a result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/image.hpp"
#include "io/colour_table.hpp"
#include "io/exif.hpp"
#include "io/pixel_transform.hpp"
#include "io/raster_axes.hpp"
#include "io/raw_tag.hpp"
#include "io/sample_type.hpp"

namespace sepconv {

/// Pixels per unit, as TIFF stores them.
struct Resolution {
  double x = 0;
  double y = 0;
  enum class Unit : std::uint8_t { none = 1, inch = 2, centimetre = 3 } unit = Unit::inch;
  friend bool operator==(const Resolution&, const Resolution&) = default;
};

/// An item of ImageJ's own metadata (TIFF tags 50838 and 50839), in native byte order.
struct ImagejItem {
  std::uint32_t kind = 0;  ///< four letters, the first in the highest byte: "rang", "luts"
  std::vector<std::byte> data;
  friend bool operator==(const ImagejItem&, const ImagejItem&) = default;
};

/// Meaning of the samples: TIFF's photometric interpretations, except those that are decoded to another one.
/// `other` is any other value, such as a camera's mosaic.
enum class Photometric : std::uint8_t {
  min_is_white,
  min_is_black,
  rgb,
  cmyk,
  cielab,
  icc_lab,
  itu_lab,
  other
};
/// Returns "0 is white", "channels are CMYK" and so on; empty for grey and RGB, the default of every picture
/// format.
std::string_view meaning_of(Photometric photometric) noexcept;

/// How a result differs from its source, as far as metadata depend on it.
struct ImageChange {
  /// Map from pixels of the result to the source. Null if rows and columns have another meaning.
  std::optional<PixelTransform> map = PixelTransform{};
  bool channels = false;
  bool to_one_channel = false;  ///< used only with `channels`
  bool type = false;
  bool values = false;        ///< pixel values are computed, not only moved
  Rect part{};                ///< rectangle of the image that the result depends on; empty: the whole image
  bool keeps_range = false;   ///< computed values are means of source values, of the same type
  bool keeps_values = false;  ///< each value is a source value of the same or a near pixel
  bool keeps_mask = false;    ///< the last channel remains Metadata::mask_channel although other channels
                              ///< change
  SampleSpec from{}, to{};    ///< source and whole result, of which only `part` may be computed

  /// Shape and type of the result's file.
  SampleSpec made() const noexcept {
    return part.empty() ? to : SampleSpec{part.extent(), to.channels, to.type};
  }
};

struct Metadata {
  std::optional<Resolution> resolution;
  std::uint16_t orientation =
      1;  ///< TIFF's Orientation, 1 to 8: how a viewer should rotate or mirror the stored rows and columns
  std::vector<std::byte> icc_profile;
  /// Rendering intent, 0 to 3, of PNG's chunk sRGB. In other formats sRGB is the default.
  std::optional<std::uint8_t> srgb_intent;
  std::string description;
  bool describes_several_images =
      false;        ///< the description counts other images, too, so that results of one image cannot have it
  RasterAxes axes;  ///< axes of the set that the description is about, in its first raster
  std::string software, date_time, artist, copyright;
  Exif exif;                         ///< EXIF of a photograph
  std::vector<std::byte> xmp, iptc;  ///< XMP packet (ISO 16684-1); IPTC IIM record
  std::string attributes;            ///< attributes of a Zarr array as a JSON object; empty: none
  std::vector<RawTag> geo_tags;  ///< 33550, 33922, 34264, 34735-34737, 50844 (RPC), GDAL's 42112 (metadata)
                                 ///< and 42113 (nodata)
  std::optional<Photometric> photometric;
  std::optional<ColourTable> colours;        ///< colour table of the first channel, for values of at most 16
                                             ///< bits
  std::vector<ImagejItem> imagej_items{};    ///< display ranges, LUTs, labels, regions
  std::vector<std::uint16_t> extra_samples;  ///< TIFF's ExtraSamples values: which channels are alpha
  /// The last channel is alpha that was computed from a mask of the file (0: hidden); the image itself has no
  /// such channel.
  bool mask_channel = false;

  /// The metadata of a result with this change. Position and resolution follow the pixel map, or are dropped
  /// without one. The orientation is adapted to transposition, or dropped without a map. ICC profile,
  /// photometric (except "0 is white" of a single remaining channel) and extra samples are dropped if
  /// channels change. GDAL's statistics are dropped if values change. The nodata value is set by the caller.
  /// Descriptions that state shape, type and number of images (OME-XML, ImageJ, tifffile's JSON) are
  /// rewritten for the result. Adds a sentence to `lost` for everything that is dropped.
  Metadata derive_for(const ImageChange& change, std::vector<std::string>& lost) const;

  friend bool operator==(const Metadata&, const Metadata&) = default;
};

/// Whether a description that counts images (OME-XML, ImageJ's, tifffile's) describes one image of this
/// shape; true for other descriptions.
bool describes_single_image(const std::string& description, const SampleSpec& spec);
bool is_ome(std::string_view description);
/// Whether a description states the number of images.
bool is_stack_description(std::string_view description);

/// The text of GDAL's nodata tag.
std::optional<std::string> nodata_value(const Metadata& metadata);
/// Replaces the nodata tag, or removes it.
void set_nodata(Metadata& metadata, const std::optional<std::string>& text);

/// The index of the first alpha channel, associated or not. Null if there is none, or if elements are
/// complex, whose parts are channels.
std::optional<std::int64_t> alpha_channel(const Metadata& metadata, std::int64_t channels,
                                          const std::optional<SampleType>& stored = {});

/// Whether the colours are premultiplied by alpha.
bool alpha_is_associated(const Metadata& metadata);

/// Whether the metadata contain a georeference: positions (33550, 33922, 34264), keys of a coordinate
/// reference system, or RPC.
bool is_georeferenced(const Metadata& metadata);

/// The EPSG code of the coordinate reference system in the GeoTIFF keys: projected, else geographic.
std::optional<int> epsg_code(const Metadata& metadata);

/// Kinds of metadata, for formats to state which they support.
enum class MetadataKind : std::uint16_t {
  resolution = 1,
  orientation = 2,
  icc_profile = 4,
  texts = 8,
  geo_tags = 16,
  photometric = 32,
  alpha = 64,
  attributes = 128,
  stack = 256,  ///< a description that counts images
  colours = 512,
  imagej_items = 1024,
  exif = 2048,
  xmp = 4096,
  iptc = 8192
};

/// A warning about metadata that a format, which supports only `stored_kinds` (sum of MetadataKinds), cannot
/// store; empty if it stores everything.
std::string dropped_metadata_warning(const Metadata& metadata, unsigned stored_kinds,
                                     std::string_view format);

}  // namespace sepconv
