// What an image file carries besides its pixels and what of it goes along to a result.
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
#include "io/pixel_map.hpp"
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
  std::uint32_t kind = 0;  ///< four letters, the first one highest: "rang", "luts"
  std::vector<std::byte> data;
  friend bool operator==(const ImagejItem&, const ImagejItem&) = default;
};

/// How the samples are meant: TIFF's photometric interpretation without the cases that decode to another;
/// `other` is any that is not named here, as a camera's mosaic.
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
/// "0 is white", "channels are CMYK" and so on; empty for what every format of pictures means by one channel
/// or three.
std::string_view meaning_of(Photometric photometric) noexcept;

/// What becomes of an image on the way to a result, as far as its metadata speak of it.
struct ImageChange {
  /// Where the pixels of what is made lie in the image; nothing: rows and columns mean something else.
  std::optional<PixelTransform> map = PixelTransform{};
  bool channels = false;
  bool to_one_channel = false;  ///< matters only with `channels`
  bool type = false;
  bool values = false;        ///< pixels are computed, not only moved
  Rect part{};                ///< of the image: all that the result is of; empty: the whole image
  bool keeps_range = false;   ///< values that are not the source's are means of them, of the same type
  bool keeps_values = false;  ///< each value is one of the source's, of this pixel or of one nearby
  bool keeps_mask = false;    ///< the last channel is still Metadata::mask_channel, though others change
  SampleSpec from{}, to{};    ///< the image, and all of the result, of which `part` may be what is made

  /// What the result's file holds.
  SampleSpec made() const noexcept {
    return part.empty() ? to : SampleSpec{part.extent(), to.channels, to.type};
  }
};

struct Metadata {
  std::optional<Resolution> resolution;
  std::uint16_t orientation =
      1;  ///< TIFF's Orientation, 1 to 8: how a viewer should turn the rows and columns as stored
  std::vector<std::byte> icc_profile;
  /// PNG's chunk sRGB: its rendering intent, 0 to 3. Other formats need no word for what is meant where
  /// nothing is said.
  std::optional<std::uint8_t> srgb_intent;
  std::string description;
  bool description_of_several =
      false;        ///< it counts other images besides this one, so no result of one image has it
  RasterAxes axes;  ///< of the set that the description is of, where this is its first raster
  std::string software, date_time, artist, copyright;
  Exif exif;                         ///< of a photograph
  std::vector<std::byte> xmp, iptc;  ///< a packet of XMP (ISO 16684-1); a record of IPTC's IIM
  std::string attributes;            ///< of a Zarr array: a JSON object; empty: none
  std::vector<RawTag> geo_tags;  ///< 33550, 33922, 34264, 34735-34737, 50844 (RPC), GDAL's 42112 (metadata)
                                 ///< and 42113 (nodata)
  std::optional<Photometric> photometric;
  std::optional<ColourTable> colours;        ///< of the first channel, whose values have 8 or 16 bits at most
  std::vector<ImagejItem> imagej_items{};    ///< display ranges, LUTs, labels, regions
  std::vector<std::uint16_t> extra_samples;  ///< TIFF's ExtraSamples values: which channels are alpha
  /// The last channel, alpha, is 0 where a mask hides the pixel: the image itself has no such channel.
  bool mask_channel = false;

  /// What still holds after this change: position and resolution follow the map of pixels, or fall with it;
  /// orientation is that by which the result is seen as the image is, with rows and columns exchanged where
  /// they are, and falls where those mean something else; profile, photometric (but "0 is white" of the one
  /// channel that is left) and extra samples with the channels; GDAL's statistics with the values; its nodata
  /// value is left to whoever knows the result's. A description that states shape, type and number of images
  /// (OME-XML, ImageJ, shaped JSON) says those of the result. What falls is added to `lost`, a sentence each.
  Metadata kept_for(const ImageChange& change, std::vector<std::string>& lost) const;

  friend bool operator==(const Metadata&, const Metadata&) = default;
};

/// Whether a description of a kind that counts images (OME-XML, ImageJ's, tifffile's) speaks of one image of
/// this shape; true for all others.
bool describes_one(const std::string& description, const SampleSpec& spec);
bool is_ome(std::string_view description);
/// Whether it is of such a kind.
bool counts_images(std::string_view description);

/// The text of GDAL's nodata tag.
std::optional<std::string> nodata_value(const Metadata& metadata);
/// Puts this one in its place, or none.
void set_nodata(Metadata& metadata, const std::optional<std::string>& text);

/// The channel, of this many, that is alpha, associated or not; the first of several. Nothing if there is none,
/// or if elements are complex, whose parts are channels.
std::optional<std::int64_t> alpha_channel(const Metadata& metadata, std::int64_t channels,
                                          const std::optional<SampleType>& stored = {});

/// Whether the others are multiplied by it.
bool alpha_is_associated(const Metadata& metadata);

/// Whether it says where on the Earth pixels lie: it has places (33550, 33922, 34264), keys of a coordinate
/// reference system, or RPC.
bool is_georeferenced(const Metadata& metadata);

/// The code by which the GeoTIFF keys name the coordinate reference system: projected, else geographic.
std::optional<int> epsg_code(const Metadata& metadata);

/// Kinds of metadata, for formats to say which of them they hold.
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

/// The sentence about what `metadata` has and a format that holds only `held` (a sum of MetadataKinds) does
/// not keep; empty if it keeps all.
std::string not_kept(const Metadata& metadata, unsigned held, std::string_view format);

}  // namespace sepconv
