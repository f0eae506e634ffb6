// Resolves a key of a store to an array. Private to this folder.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "io/zarr/ome_group.hpp"
#include "io/zarr/zarr_array.hpp"

namespace sepconv {

struct ResolvedArray {
  std::string key;
  ZarrArray array;
  std::optional<OmeSource> ome{};       ///< the image of which the array is a level
  std::optional<double> nodata{};       ///< the value of missing pixels
  bool is_consolidated = false;         ///< see ZarrLayout::is_consolidated
  std::vector<std::string> warnings{};  ///< sentences about what a result will not have
};

/// The array at a key, a level of the image at a key, or the only array or image in a plain group. Throws
/// IoError if there is none or more than one; the message lists them.
ResolvedArray find_array(const ZarrStore& store, const std::string& key, int level);

}  // namespace sepconv
