// The other members of an image's group. Private to this folder.
#pragma once

#include <string>
#include <vector>

#include "io/zarr/ome_group.hpp"

namespace sepconv {

/// Sets `source.labels` to the listed and existing label images of the image whose group is at this key. Adds
/// a warning about missing ones.
void find_labels(const ZarrStore& store, const std::string& key, OmeSource& source);

/// The paths of the levels' arrays, relative to the group.
std::vector<std::string> level_paths(const NgffMultiscale& image);
/// Whether a member of a group is one of these paths or a parent folder of one.
bool is_on_path(const std::string& member, const std::vector<std::string>& paths);

/// Warns about other members of an image's group, such as tables and other images, except label images and
/// hidden members.
void warn_about_siblings(const ZarrStore& store, const std::string& key,
                         const std::vector<std::string>& paths, std::vector<std::string>& warnings);

/// Warns about attributes of the group that contains the array at this key and about its other members, such
/// as xarray's coordinates.
void warn_about_surroundings(const ZarrStore& store, const std::string& key,
                             std::vector<std::string>& warnings);

}  // namespace sepconv
