// OME-Zarr's metadata (OME-NGFF 0.4 and 0.5): what the attributes of a group say, and those of a result. As
// a description (Metadata::description) it is the "ome" object of an image with one level.
// https://ngff.openmicroscopy.org/0.5/
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "io/stack/ome_image.hpp"

namespace sepconv {

/// An array of an image, and where its pixels lie along each axis of the image.
struct NgffLevel {
  std::string path;  ///< below the group
  std::vector<double> scale, translation;
};

struct NgffMultiscale {
  OmeImage image;                 ///< with the axes of the arrays, in their order
  std::vector<NgffLevel> levels;  ///< the largest first; at least one
  /// What it says that OmeImage has no place for: "rdefs", ...
  std::vector<std::string> others;

  /// The image that this level is.
  OmeImage at_level(std::size_t level) const;
};

/// What a group is; with a version and nothing else, one whose members are images. All paths are relative to
/// it and lead nowhere else.
struct NgffGroup {
  std::string version;                 ///< "0.4", "0.5"; empty: it is not a group of OME-Zarr
  std::string said_version;            ///< the same and what follows it: "0.5-dev-spatialdata"
  std::vector<NgffMultiscale> images;  ///< usually one
  std::vector<std::string> labels;     ///< of a group of label images
  std::vector<std::string> wells;      ///< of a plate: "A/1"
  std::vector<std::string> fields;     ///< of a well: "0"
  std::string others;  ///< attributes that are not OME-Zarr's, a JSON object's text; empty: none
};

/// For the attributes, a JSON object's text, of a group of either version of Zarr. `where` begins errors.
/// Throws IoError for what is damaged, or of another version.
NgffGroup read_ngff(const std::string& attributes, const std::string& where);

/// Levels of a result: paths, and how often their pixels are larger along an axis than those of the first,
/// of which each is the mean of this many.
struct NgffStep {
  std::string path;
  std::vector<double> factors;  ///< one for each axis of the image
};

/// The attributes, a JSON object's text, of a group that holds these levels of an image: 0.4 in Zarr 2, 0.5
/// in Zarr 3; `nearest`: pixels of levels are one of those in place of their mean; `others` as NgffGroup has
/// them.
std::string ngff_attributes(const OmeImage& image, const std::vector<NgffStep>& steps, int zarr, bool nearest,
                            const std::string& others = {});

/// Takes away sizes and places so large that those of a smaller level are not numbers. Whether there were any.
bool drop_endless_sizes(OmeImage& image);
inline constexpr const char* kEndlessSizes = "sizes of pixels are left out: they are too large for a number";

/// The attributes, which read_ngff() takes, of a label image or of a group of some, as they are in this
/// version of Zarr and with this many levels at most.
std::string ngff_of_labels(const std::string& attributes, int zarr, std::int64_t levels);

bool is_ngff(std::string_view description) noexcept;
/// A description, and back; throws IoError for a text that is none.
std::string ngff_text(const OmeImage& image);
OmeImage parse_ngff_text(const std::string& text);

/// See describe_stack().
std::string describe_ngff(const std::string& text, const RasterAxes& axes, const ImageChange& change,
                          std::vector<std::string>& lost);

}  // namespace sepconv
