// Nodata values: the value of missing pixels in GDAL's tag.
#pragma once

#include <optional>
#include <string_view>

#include "io/metadata.hpp"

namespace sepconv {

/// Parses a number with optional spaces around it.
std::optional<double> number_of(std::string_view text);
/// Converts a value to the type; null if the type cannot represent it.
std::optional<double> value_as(double value, PixelType type);
/// The same for element types of files. Floating types, including f16, use the type of the pixels in memory.
std::optional<double> value_as(double value, SampleType type);
/// The nodata value of the metadata; null if the types `stored` and `type` (in memory) cannot represent it.
std::optional<double> declared_nodata(const Metadata& metadata, PixelType type, SampleType stored);

}  // namespace sepconv
