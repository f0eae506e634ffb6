// The groups that a node of a store lies in, on the disk too. Private to this folder.
#pragma once

#include <functional>
#include <string>

#include "io/zarr/zarr_store.hpp"

namespace sepconv {

/// Calls `look` with the store and the key of the two groups around a node, the nearest first, and the node's
/// path below each, until it returns true; returns whether it did. Above a folder's store they are looked for
/// on the disk: where the folder's name leads, and where it really lies.
bool any_group_above(const ZarrStore& store, const std::string& key,
                     const std::function<bool(const ZarrStore& store, const std::string& key,
                                              const std::string& inside)>& look);

/// Whether a group above lists the node among its label images, or is a Zarr group `labels` that it is
/// directly in.
bool is_in_labels(const ZarrStore& store, const std::string& key);

}  // namespace sepconv
