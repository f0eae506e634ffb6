// Which array of a store is meant by a key. Private to this folder.
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
  std::optional<OmeSource> ome{};       ///< of which it is a level
  std::optional<double> nodata{};       ///< the value of missing pixels
  bool is_consolidated = false;         ///< as FileLayout::zarr has it
  std::vector<std::string> left_out{};  ///< what a result will not have, a sentence each
};

/// The array at a key, or a level of the image there; of a plain group, the only array or image in it. Throws
/// IoError where there is none, and one that lists them where there are several.
ResolvedArray find_array(const ZarrStore& store, const std::string& key, int level);

}  // namespace sepconv
