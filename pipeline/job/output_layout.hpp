// File layout of a result. Internal to the pipeline.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/job/output.hpp"

namespace sepconv {

/// The requested layout, else the source's as far as a result of this spec, or its region, can and should
/// have it. Tile sides are rounded up to multiples of `tile_unit`.
FileLayout chosen_layout(const Reader* source, const ImageSpec& result, const OutputOptions& request,
                         const ImageChange& change, std::int64_t tile_unit,
                         std::vector<std::string>& warnings);

/// Warning that a JPEG is recompressed without being requested. `other` names the alternative.
std::string recompressed_jpeg_warning(Chroma chroma, std::int64_t channels, std::string_view other);

/// Default tile size if strips were not requested.
Extent default_tile(const Reader* source, const ImageSpec& result, const std::optional<PixelTransform>& map);

}  // namespace sepconv
