// Descriptions that count images: OME-XML, ImageJ's, OME-Zarr's, and the JSON of tifffile ("shaped"). What
// they say of a file's rasters, and the same said of a result.
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
  std::vector<std::int64_t> pages{};  ///< of the file, one a raster; empty: one after another
  /// Images of the description that are of other kinds (the label of a slide): their first page and name.
  std::vector<std::pair<std::int64_t, std::string>> unlike{};
  std::string problem{};  ///< why the description is of no use: "its OME-XML is damaged"
  std::string refusal{};  ///< why the file is not to be read by its pages either
  bool is_mixed = false;  ///< because its images are of several sizes or types: ome_series() are read alone
};

/// What a description that counts images says of those of this shape, in a file of this many pages.
Stack read_stack(const std::string& description, const SampleSpec& spec, std::int64_t pages);

/// The description of the rasters that are left at these axes and changed so, or nothing where it cannot
/// be said of them; `lost` gets a sentence about what it does not say any more.
std::string describe_stack(const std::string& description, const RasterAxes& axes, const ImageChange& change,
                           std::vector<std::string>& lost);

/// Whether OME-XML has a word for the type; f16 and 64-bit integers have none.
bool ome_holds(SampleType type);
/// A new one: OME-XML, for what is in no other description, with what is known of the image.
std::string new_ome(const SampleSpec& spec, const RasterAxes& axes, const OmeImage& image = {});
/// A new shaped one, which names the axes.
std::string new_shaped(const SampleSpec& spec, const RasterAxes& axes);
/// A shaped description whose channels come where they are stored, before rows or behind columns; others as
/// they are.
std::string with_channels_at(const std::string& description, const SampleSpec& spec, bool planar);
/// The shaped description of a smaller level of the image of this one; nothing where that is none. tifffile
/// reads the shapes of a file only where every level has its own.
std::string shaped_of_level(const std::string& description, const SampleSpec& spec, Extent level);

/// The description of images like this one that lie along other axes than it says; nothing where it cannot
/// be said in such a one.
std::string with_axes(const std::string& description, const SampleSpec& spec, const RasterAxes& axes);

/// Images of OME-XML, of which one may be read where they are not alike.
struct OmeSeries {
  std::string name;
  std::int64_t first_page = 0;
  std::string sizes;  ///< "64 x 48 pixels, z 5, c 2"
};
std::vector<OmeSeries> ome_series(const std::string& xml);
/// The same OME-XML with these images only.
std::string ome_of_series(const std::string& xml, std::int64_t first, std::int64_t last);

// Kind by kind.
Stack read_ome(const std::string& xml, const SampleSpec& spec, std::int64_t pages);
std::string describe_ome(const std::string& xml, const RasterAxes& axes, const ImageChange& change,
                         std::vector<std::string>& lost);
Stack read_imagej(const std::string& text, const SampleSpec& spec, std::int64_t pages);
std::string describe_imagej(const std::string& text, const RasterAxes& axes, const ImageChange& change,
                            std::vector<std::string>& lost);
Stack read_shaped(const std::string& json, const SampleSpec& spec);
std::string describe_shaped(const std::string& json, const RasterAxes& axes, const ImageChange& change);
bool is_imagej(std::string_view description) noexcept;
/// What a line of ImageJ's description says; nothing if there is none.
std::string_view imagej_value(std::string_view text, std::string_view key);
bool is_shaped(std::string_view description) noexcept;
/// Whether there is more than what counts images and says sizes and, in ImageJ's, how it is to be shown.
bool imagej_says_more(std::string_view text);
bool shaped_says_more(const std::string& json);
/// Sizes, steps and names of channels that tifffile was given for OME-XML or ImageJ and wrote as they were.
OmeImage ome_image_of_shaped(const std::string& json);

// Aperio's description of a slide (SVS), which counts no images.
bool is_aperio(std::string_view description) noexcept;
/// The same, or what not_of_slide() made of it.
bool is_slide(std::string_view description);
/// Micrometres from pixel to pixel; nothing where it does not say that.
std::optional<double> slide_mpp(std::string_view description);
/// With sizes and magnification of the result; what counts the source's pixels falls.
std::string describe_slide(const std::string& text, const ImageChange& change,
                           std::vector<std::string>& lost);
/// For a file that is not laid out as Aperio's are: with a beginning by which no reader takes it for one.
std::string not_of_slide(const std::string& text);
/// For a page that is not the scan (thumbnail, label): without the scan's size of a pixel.
std::string without_mpp(const std::string& text);

}  // namespace sepconv
