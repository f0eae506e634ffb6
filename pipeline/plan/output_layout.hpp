// How a result's file is laid out. Internal to the pipeline.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/plan/output.hpp"

namespace sepconv {

/// As asked, else as the source is, as far as a result of this spec, or its region, can and should have that.
/// The sides of tiles become multiples of `tile_unit`.
FileLayout chosen_layout(const Reader* source, const ImageSpec& result, const OutputOptions& request,
                         const std::optional<PixelTransform>& map, Work work, std::int64_t tile_unit,
                         std::vector<std::string>& warnings);

/// What is said of a JPEG that becomes one again without being asked to; `other`: what else to choose.
std::string jpeg_once_more(Chroma chroma, std::int64_t channels, std::string_view other);

/// Tiles for who has strips by nobody's wish.
Extent usual_tile(const Reader* source, const ImageSpec& result, const std::optional<PixelTransform>& map);

}  // namespace sepconv
