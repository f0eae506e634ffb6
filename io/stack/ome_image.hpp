// What OME-XML, OME-Zarr, ImageJ's description and TIFF's tags say of an image besides its pixels, in one
// form: for results whose format has another of them than the source's.
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
  std::string type;        ///< "time", "channel", "space", another word, or none
  std::string unit;        ///< as OME-Zarr spells it, "micrometer"; none if it is not known
  double scale = 1;        ///< from one pixel's centre to the next one's, in units
  double translation = 0;  ///< of the first pixel's centre
  friend bool operator==(const OmeAxis&, const OmeAxis&) = default;
};

/// For a channel's values, for viewers: all that there may be, and what is shown from black to full colour.
struct OmeWindow {
  double min = 0, max = 0, start = 0, end = 0;
  friend bool operator==(const OmeWindow&, const OmeWindow&) = default;
};

struct OmeChannel {
  std::string name;
  std::optional<std::uint32_t> rgb{};  ///< 0xRRGGBB
  std::optional<OmeWindow> window{};
  std::string rest{};  ///< what else OME-Zarr says of it: a JSON object's text, or none
  friend bool operator==(const OmeChannel&, const OmeChannel&) = default;
};

struct OmeImage {
  std::string name{};
  std::vector<OmeAxis> axes{};         ///< those of which something is said
  std::vector<OmeChannel> channels{};  ///< one a position of c; empty: nothing is said of them
  /// Values are numbers of things, and what OME-Zarr says of these (image-label): a JSON object's text, or
  /// none.
  std::string label{};
  friend bool operator==(const OmeImage&, const OmeImage&) = default;
};

/// For its axes.
std::vector<std::string> axis_names(const OmeImage& image);
/// The axis of this name, made if there is none.
OmeAxis& ome_axis(OmeImage& image, std::string_view name);
/// "space" of x, y and z, "time" of t, "channel" of c, else nothing.
std::string ome_axis_type(std::string_view name);

/// OME-Zarr's word for a unit as OME-XML and ImageJ write it ("µm", "micron"), and OME-XML's symbol for such
/// a word; empty for what has none.
std::string ome_unit(std::string_view text);
std::string ome_symbol(std::string_view unit);
/// For a unit of length; 0 for others.
double ome_metres(std::string_view unit);

/// What metadata say of an image: its description, of whichever kind, else resolution and GeoTIFF tags. What
/// they say beyond is added to `lost`, a sentence each.
OmeImage ome_image_of(const Metadata& metadata, std::vector<std::string>& lost);

/// What a result has that has no description of such a kind: the sizes of pixels that one says, where they
/// are lengths, else the resolution.
std::optional<Resolution> resolution_of(const Metadata& metadata);
/// "description (sizes of pixels, time step, names of channels)": what is known from it.
std::string described_in(const Metadata& metadata);

/// For OME-XML's first image. `has_more`: it says more than that.
OmeImage ome_image_of_xml(const std::string& xml, bool& has_more);
/// For ImageJ's description: sizes along z and t, and the unit of those that TIFF's resolution states.
OmeImage ome_image_of_imagej(const std::string& text, const std::optional<Resolution>& resolution);

}  // namespace sepconv
