// Consolidated metadata, zarr-python's: what the nodes below a group say, once more in the group. Private to
// this folder.
#pragma once

#include <filesystem>
#include <string>

#include "io/zarr/zarr_result.hpp"
#include "io/zarr/zarr_store.hpp"

namespace sepconv {

/// Whether the group at `key`, or one on the way from there to the array at `below`, has them.
bool is_consolidated(const ZarrStore& store, const std::string& key, const std::string& below);

/// The metadata of the group at the root of a hierarchy that is made, with those of all below it. `group`:
/// its own, of this version. Throws IoError.
ZarrTexts consolidated_texts(const ZarrStore& made, int version, const ZarrTexts& group);

/// For what is written below a group that has them, and does not have them brought up to date: a sentence;
/// else empty.
std::string consolidated_above(const std::filesystem::path& target);

}  // namespace sepconv
