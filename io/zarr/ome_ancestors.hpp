// The groups that contain a node of a store, also outside the store on the disk. Private to this folder.
#pragma once

#include <functional>
#include <string>

#include "io/zarr/zarr_store.hpp"

namespace sepconv {

/// Calls `visit` for the two groups above a node, the nearest first, with the store and key of the group and
/// the node's path relative to it, until `visit` returns true. Returns whether it did. For a store in a
/// folder the groups are searched on the disk, above the path as it was given and above its canonical path.
bool any_group_above(const ZarrStore& store, const std::string& key,
                     const std::function<bool(const ZarrStore& store, const std::string& key,
                                              const std::string& relative_path)>& visit);

/// Whether one of these groups lists the node as a label image, or the node's parent is a Zarr group
/// `labels`.
bool is_in_labels(const ZarrStore& store, const std::string& key);

}  // namespace sepconv
