// What a group of OME-Zarr leads to: an image with its levels, a label image, a field of a plate. Private to
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

/// A group that holds several images, wells, fields or label images, which are listed.
class OmeChoice final : public IoError {
  using IoError::IoError;
};

struct OmeSource {
  std::string key;  ///< of the level's array
  ZarrArray array;  ///< with the names of the image's axes
  OmeImage image;   ///< of that level
  std::string version;
  std::string attributes;               ///< of the group, without those that are OME-Zarr's; empty: none
  std::vector<Extent> smaller;          ///< levels, by rows and columns
  std::vector<std::string> labels;      ///< below the image
  std::string labels_key{};             ///< of their group
  bool is_whole = false;                ///< the level is the first
  std::string labels_left_out{};        ///< what is said of a result without them
  std::vector<std::string> left_out{};  ///< what a result of the image will not have, a sentence each
};

/// The image of the group at this key; of a well, or of a group of images, the only one. Nothing
/// for a group that is none of OME-Zarr. Throws IoError that lists what there is where it holds several.
std::optional<OmeSource> find_ome(const ZarrStore& store, const std::string& key, const ZarrNode& group,
                                  int level);

/// What the array at this key is: the level of an image that a group above it says it is, if there is one.
std::optional<OmeSource> find_ome_above(const ZarrStore& store, const std::string& key,
                                        const ZarrArray& array);

/// Whether its channels are those of a picture: called red, green and blue, and in these colours; an alpha
/// may follow. Others are images of their own.
bool is_picture(const OmeImage& image);

/// What is said of ZarrNode::as_texts.
std::string texts_sentence(const std::string& as_texts);

/// For `sepconv info`.
std::vector<std::pair<std::string, std::string>> ome_facts(const OmeSource& source);

}  // namespace sepconv
