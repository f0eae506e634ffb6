// A common representation of the image metadata in OME-XML, OME-Zarr, ImageJ's description and TIFF tags, to
// convert between them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/metadata.hpp"

namespace sepconv {

struct OmeAxis {
  std::string name;        ///< "t", "c", "z", "y", "x", or another
  std::string type;        ///< "time", "channel", "space", another word, or empty
  std::string unit;        ///< as OME-Zarr spells it, "micrometer"; empty if unknown
  double scale = 1;        ///< distance between the centres of adjacent pixels, in units
  double translation = 0;  ///< position of the first pixel's centre, in units
  friend bool operator==(const OmeAxis&, const OmeAxis&) = default;
};

/// A channel's display window: the possible values (min, max), and those shown as black and full colour.
struct OmeWindow {
  double min = 0, max = 0, start = 0, end = 0;
  friend bool operator==(const OmeWindow&, const OmeWindow&) = default;
};

struct OmeChannel {
  std::string name;
  std::optional<std::uint32_t> rgb{};  ///< 0xRRGGBB
  std::optional<OmeWindow> window{};
  std::string rest{};  ///< other OME-Zarr members, the text of a JSON object; may be empty
  friend bool operator==(const OmeChannel&, const OmeChannel&) = default;
};

struct OmeImage {
  std::string name{};
  std::vector<OmeAxis> axes{};         ///< axes with metadata
  std::vector<OmeChannel> channels{};  ///< one per position of c; empty: no metadata
  /// OME-Zarr's image-label, the text of a JSON object: pixel values are labels of objects. Else empty.
  std::string label{};
  friend bool operator==(const OmeImage&, const OmeImage&) = default;
};

std::vector<std::string> axis_names(const OmeImage& image);
/// The axis of this name, which is added if it does not exist.
OmeAxis& ome_axis(OmeImage& image, std::string_view name);
/// "space" for x, y and z, "time" for t, "channel" for c, else empty.
std::string ome_axis_type(std::string_view name);

/// ome_unit(): OME-Zarr's word for a unit that OME-XML or ImageJ writes ("µm", "micron"). ome_symbol():
/// OME-XML's symbol for such a word. Both return an empty string for unknown units.
std::string ome_unit(std::string_view text);
std::string ome_symbol(std::string_view unit);
/// The length of a unit in metres; 0 for units that are not lengths.
double ome_metres(std::string_view unit);

/// Converts a description of any kind, resolution and GeoTIFF tags. Adds a sentence to `lost` for each kind
/// of metadata that OmeImage cannot represent.
OmeImage ome_image_of(const Metadata& metadata, std::vector<std::string>& lost);

/// The resolution for a format without such a description: the description's pixel sizes if they are lengths,
/// else Metadata::resolution.
std::optional<Resolution> resolution_of(const Metadata& metadata);
/// Lists the contents of the description: "description (sizes of pixels, time step, names of channels)".
std::string list_description_contents(const Metadata& metadata);

/// Whether a size or step is anything but a finite number from 0 on. It is in no OmeImage and in no result.
bool is_unreadable_size(std::string_view text);
/// A sentence for each of them, and for each such colour, in OME-XML or ImageJ's description.
std::vector<std::string> unreadable_numbers(const std::string& description);

/// The first image of OME-XML. `has_more`: the XML contains other metadata, too.
OmeImage ome_image_of_xml(const std::string& xml, bool& has_more);
/// The axes of ImageJ's description: sizes along z and t. Sizes along x and y are TIFF's resolution in the
/// unit of the description.
OmeImage ome_image_of_imagej(const std::string& text, const std::optional<Resolution>& resolution);

}  // namespace sepconv
