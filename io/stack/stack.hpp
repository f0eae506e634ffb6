// Descriptions of image stacks: OME-XML, ImageJ's, OME-Zarr's, and the JSON of tifffile ("shaped"). Parses
// them for the axes of a file's rasters, and updates them for a result.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/stack/ome_image.hpp"

namespace sepconv {

struct Stack {
  RasterAxes axes{};
  std::vector<std::int64_t> pages{};  ///< the page of each raster; empty: consecutive pages
  /// First page and name of images of another shape or type, e.g. the label of a slide.
  std::vector<std::pair<std::int64_t, std::string>> unlike{};
  std::string problem{};  ///< why the description cannot be used: "its OME-XML is damaged"
  std::string refusal{};  ///< why the file cannot be read page by page either
  bool is_mixed = false;  ///< refused because images differ in size or type; each of ome_series() can be read
};

/// Parses the description of a stack of images with this shape, in a file with this many pages.
Stack read_stack(const std::string& description, const SampleSpec& spec, std::int64_t pages);

/// Updates a description for a result with these axes and this change. Returns an empty string if the format
/// of the description cannot represent them. Adds sentences about removed metadata to `lost`.
std::string describe_stack(const std::string& description, const RasterAxes& axes, const ImageChange& change,
                           std::vector<std::string>& lost);

/// Whether OME-XML supports the type. It does not support f16 and 64-bit integers.
bool ome_supports_type(SampleType type);
/// Creates OME-XML with the known metadata of the image.
std::string create_ome_xml(const SampleSpec& spec, const RasterAxes& axes, const OmeImage& image = {});
/// Creates a shaped description that names the axes.
std::string create_shaped_description(const SampleSpec& spec, const RasterAxes& axes);
/// Moves the channels of a shaped description to where they are stored: before rows (planar) or after
/// columns. Returns other descriptions unchanged.
std::string shaped_with_stored_channels(const std::string& description, const SampleSpec& spec, bool planar);
/// The shaped description of a smaller level of the image; empty if `description` is not shaped. tifffile
/// reads the shapes of a file only if every level has one.
std::string shaped_for_level(const std::string& description, const SampleSpec& spec, Extent level);

/// Changes a description to these axes. Returns an empty string if its format cannot represent them.
std::string with_axes(const std::string& description, const SampleSpec& spec, const RasterAxes& axes);

/// An image of OME-XML. Images of different shapes are read one at a time.
struct OmeSeries {
  std::string name;
  std::int64_t first_page = 0;
  std::string sizes;  ///< "64 x 48 pixels, z 5, c 2"
};
std::vector<OmeSeries> ome_series(const std::string& xml);
/// The OME-XML with only these images.
std::string extract_ome_series(const std::string& xml, std::int64_t first, std::int64_t last);

// The functions for each kind of description.
Stack read_ome(const std::string& xml, const SampleSpec& spec, std::int64_t pages);
std::string describe_ome(const std::string& xml, const RasterAxes& axes, const ImageChange& change,
                         std::vector<std::string>& lost);
Stack read_imagej(const std::string& text, const SampleSpec& spec, std::int64_t pages);
std::string describe_imagej(const std::string& text, const RasterAxes& axes, const ImageChange& change,
                            std::vector<std::string>& lost);
Stack read_shaped(const std::string& json, const SampleSpec& spec);
std::string describe_shaped(const std::string& json, const RasterAxes& axes, const ImageChange& change);
bool is_imagej(std::string_view description) noexcept;
/// The value of a key in ImageJ's description; empty if it does not exist.
std::string_view imagej_value(std::string_view text, std::string_view key);
bool is_shaped(std::string_view description) noexcept;
/// ImageJ's keys of sizes: the distance of planes and the time step.
inline constexpr const char* kImagejSizes[] = {"spacing", "finterval"};
/// Whether a description has other contents than counts of images, sizes and (ImageJ's) display settings.
bool imagej_has_more(std::string_view text);
bool shaped_has_more(const std::string& json);
/// Sizes, steps and channel names that were passed to tifffile for OME-XML or ImageJ, and that it wrote
/// unchanged.
OmeImage ome_image_of_shaped(const std::string& json);

// Aperio's description of a slide (SVS), which does not describe a stack.
bool is_aperio(std::string_view description) noexcept;
/// Whether the description is Aperio's, or the result of hide_aperio_signature().
bool is_slide(std::string_view description);
/// Micrometres per pixel; null if the description does not contain it.
std::optional<double> slide_mpp(std::string_view description);
/// Updates sizes and magnification for the result, and removes fields that count the source's pixels.
std::string describe_slide(const std::string& text, const ImageChange& change,
                           std::vector<std::string>& lost);
/// Adds a prefix so that readers do not take a file with another layout for Aperio's.
std::string hide_aperio_signature(const std::string& text);
/// Removes the pixel size and magnification of the scan, for a page that is not the scan (thumbnail, label).
std::string remove_slide_mpp(const std::string& text);

}  // namespace sepconv
