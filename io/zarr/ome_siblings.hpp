// What lies next to an image in its group. Private to this folder.
#pragma once

#include <string>
#include <vector>

#include "io/zarr/ome_group.hpp"

namespace sepconv {

/// Label images of the image whose group is at this key: those that are listed and there. Others are said to
/// be missing (OmeSource::left_out).
void take_labels(const ZarrStore& store, const std::string& key, OmeSource& source);

/// For its levels' arrays, below its group.
std::vector<std::string> paths_of(const NgffMultiscale& image);
/// Whether a member of a group is one of these paths, or what one leads through.
bool is_on_path(const std::string& member, const std::vector<std::string>& paths);

/// Says what else lies in an image's group besides these paths: tables, other images. Not label images, nor
/// what is hidden.
void warn_about_siblings(const ZarrStore& store, const std::string& key,
                         const std::vector<std::string>& paths, std::vector<std::string>& said);

/// Says what the group around the array at this key has: attributes, and what lies next to it, such as the
/// coordinates that xarray stores so.
void warn_about_surroundings(const ZarrStore& store, const std::string& key, std::vector<std::string>& said);

}  // namespace sepconv
