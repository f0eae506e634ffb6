// What chunks and shards of a result hold of several images. Private to this folder.
#pragma once

#include <string>
#include <vector>

#include "io/raster_set.hpp"

namespace sepconv {

/// The layout that is asked for, cut where it cannot be, which is said. `is_ome`: with the names of
/// OME-Zarr's axes.
FileLayout zarr_result_layout(const RasterSetSpec& spec, const CreateOptions& options, bool is_ome,
                              std::vector<std::string>& warnings);

}  // namespace sepconv
