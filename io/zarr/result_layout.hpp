// How chunks and shards of a result span several images. Private to this folder.
#pragma once

#include <string>
#include <vector>

#include "io/raster_set.hpp"

namespace sepconv {

/// The requested layout, limited to what is supported, with warnings about differences. `is_ome`: uses the
/// axis names of OME-Zarr.
FileLayout zarr_result_layout(const RasterSetSpec& spec, const CreateOptions& options, bool is_ome,
                              std::vector<std::string>& warnings);

}  // namespace sepconv
