// OME-Zarr metadata (OME-NGFF 0.4 and 0.5): parses the attributes of a group and writes those of a result. An
// OME-Zarr description (Metadata::description) is the "ome" object of an image with one level.
// https://ngff.openmicroscopy.org/0.5/
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "io/stack/ome_image.hpp"

namespace sepconv {

/// A level of an image: its array, and the scale and translation along each axis of the image.
struct NgffLevel {
  std::string path;  ///< below the group
  std::vector<double> scale, translation;
};

struct NgffMultiscale {
  OmeImage image;                 ///< with the axes of the arrays, in their order
  std::vector<NgffLevel> levels;  ///< the largest first; at least one
  /// Names of members that OmeImage cannot represent, e.g. "rdefs".
  std::vector<std::string> others;

  /// The image with the scale and translation of this level.
  OmeImage at_level(std::size_t level) const;
};

/// The contents of a group. A group with only a version has images as members. All paths are relative to the
/// group and stay inside it.
struct NgffGroup {
  std::string version;                 ///< "0.4" or "0.5"; empty: not an OME-Zarr group
  std::string full_version;            ///< with its suffix: "0.5-dev-spatialdata"
  std::vector<NgffMultiscale> images;  ///< usually one
  std::vector<std::string> labels;     ///< of a group of label images
  std::vector<std::string> wells;      ///< of a plate: "A/1"
  std::vector<std::string> fields;     ///< of a well: "0"
  std::string others;                  ///< other attributes, the text of a JSON object; may be empty
};

/// Parses the attributes of a group, the text of a JSON object, for Zarr 2 or 3. Error messages begin with
/// `where`. Throws IoError for damaged metadata and for other versions of OME-Zarr.
NgffGroup read_ngff(const std::string& attributes, const std::string& where);

/// A level of a result: its path, and the factor along each axis by which its pixels are larger than those of
/// the first level.
struct NgffLevelFactors {
  std::string path;
  std::vector<double> factors;  ///< one per axis of the image
};

/// The attributes, the text of a JSON object, of a group with these levels of an image: version 0.4 in Zarr
/// 2, 0.5 in Zarr 3. `nearest`: levels are subsampled instead of averaged. `others`: as NgffGroup::others.
std::string ngff_attributes(const OmeImage& image, const std::vector<NgffLevelFactors>& levels, int zarr,
                            bool nearest, const std::string& others = {});

/// Resets axes whose scale or translation is so large that it overflows at a smaller level. Returns whether
/// there were any.
bool drop_overflowing_sizes(OmeImage& image);
inline constexpr const char* kOverflowingSizesWarning =
    "sizes of pixels are left out: they are too large for a number";

/// Converts the attributes of a label image, or of a group of label images, to this version of Zarr with at
/// most `levels` levels.
std::string convert_label_attributes(const std::string& attributes, int zarr, std::int64_t levels);

bool is_ngff(std::string_view description) noexcept;
/// Formats and parses an OME-Zarr description. parse_ngff_text() throws IoError for other text.
std::string ngff_text(const OmeImage& image);
OmeImage parse_ngff_text(const std::string& text);

/// See describe_stack().
std::string describe_ngff(const std::string& text, const RasterAxes& axes, const ImageChange& change,
                          std::vector<std::string>& lost);

}  // namespace sepconv
