// Resolves an OME-Zarr group to an image with its levels, a label image, or a field of a plate. Private to
// this folder.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/geometry.hpp"
#include "io/stack/ngff.hpp"
#include "io/zarr/zarr_array.hpp"

namespace sepconv {

/// Thrown for a group with several images, wells, fields or label images. The message lists them.
class OmeChoice final : public IoError {
  using IoError::IoError;
};

struct OmeSource {
  std::string key;  ///< of the level's array
  ZarrArray array;  ///< with the axis names of the image
  OmeImage image;   ///< with the scale and translation of the level
  std::string version;
  std::string attributes;               ///< of the group, without OME-Zarr's; may be empty
  std::vector<Extent> smaller_levels;   ///< extents of the smaller levels
  std::vector<std::string> labels;      ///< names of the label images
  std::string labels_key{};             ///< of the group of label images
  bool is_full_size = false;            ///< the level is the largest
  std::string labels_warning{};         ///< the warning for a result without label images
  std::vector<std::string> warnings{};  ///< sentences about what a result of the image will not have
};

/// The image of the group at this key, or the only image of a well or of a group of images. Null if the group
/// is not OME-Zarr. Throws IoError, and OmeChoice if there are several.
std::optional<OmeSource> find_ome(const ZarrStore& store, const std::string& key, const ZarrNode& group,
                                  int level);

/// The level of an image that is the array at this key, by a group above it; null if there is none.
std::optional<OmeSource> find_ome_above(const ZarrStore& store, const std::string& key,
                                        const ZarrArray& array);

/// Whether the channels are a colour picture: named red, green and blue, with these colours, and optionally
/// alpha. Other channels are separate images.
bool is_picture(const OmeImage& image);

/// The warning about ZarrNode::quoted_numbers.
std::string quoted_numbers_warning(const std::string& quoted_numbers);

/// Names and values for `sepconv info`.
std::vector<std::pair<std::string, std::string>> ome_facts(const OmeSource& source);

}  // namespace sepconv
