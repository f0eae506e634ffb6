// A reader of one image of an array. Private to this folder.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "io/metadata.hpp"
#include "io/reader.hpp"
#include "io/zarr/zarr_axes.hpp"
#include "io/zarr/zarr_source.hpp"

namespace sepconv {

/// The image at this position along the other axes.
std::unique_ptr<Reader> make_zarr_reader(std::shared_ptr<ZarrSource> source, const ZarrAxes& axes,
                                         std::vector<std::int64_t> position, SourceLayout layout,
                                         Metadata metadata);

}  // namespace sepconv
