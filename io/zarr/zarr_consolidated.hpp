// zarr-python's consolidated metadata: a group repeats the metadata of all nodes below it. Private to this
// folder.
#pragma once

#include <filesystem>
#include <string>

#include "io/zarr/zarr_result.hpp"
#include "io/zarr/zarr_store.hpp"

namespace sepconv {

/// Whether the group at `key`, or a group between it and the array at `below`, has consolidated metadata.
bool is_consolidated(const ZarrStore& store, const std::string& key, const std::string& below);

/// Consolidates the metadata of the root group of a new hierarchy. `group`: its metadata, of this version.
/// Throws IoError.
MetadataFiles consolidated_files(const ZarrStore& store, int version, const MetadataFiles& group);

/// A warning if the target is below a group whose consolidated metadata will be out of date; else empty.
std::string stale_consolidation_warning(const std::filesystem::path& target);

}  // namespace sepconv
