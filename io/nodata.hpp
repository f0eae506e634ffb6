// Numbers in the texts of metadata, and nodata values: the value of missing pixels in GDAL's tag.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "io/metadata.hpp"

namespace sepconv {

/// Parses a number with optional spaces around it; null if anything else is in the text.
std::optional<double> number_of(std::string_view text);
/// Only finite numbers from 0 on, as sizes are.
std::optional<double> size_number_of(std::string_view text);
/// Only whole numbers from 0 to 2^53, without a decimal point.
std::optional<std::int64_t> whole_number_of(std::string_view text);
/// Converts a value to the type; null if the type cannot represent it.
std::optional<double> value_as(double value, PixelType type);
/// The same for element types of files. Floating types, including f16, use the type of the pixels in memory.
std::optional<double> value_as(double value, SampleType type);
/// The nodata value of the metadata; null if the types `stored` and `type` (in memory) cannot represent it.
std::optional<double> declared_nodata(const Metadata& metadata, PixelType type, SampleType stored);

}  // namespace sepconv
