// The value that stands for missing pixels in a file: GDAL's tag, as its elements have it.
#pragma once

#include <optional>
#include <string_view>

#include "io/metadata.hpp"

namespace sepconv {

/// The number that a text is, spaces around it aside.
std::optional<double> number_of(std::string_view text);
/// A value as the type has it; nothing if it has no such value.
std::optional<double> value_as(double value, PixelType type);
/// The same of a file's elements; of those that are floating, f16 too, the pixels' own type decides.
std::optional<double> value_as(double value, SampleType type);
/// The nodata value that the metadata declare, if elements that are `stored`, and `type` in memory, have it.
std::optional<double> declared_nodata(const Metadata& metadata, PixelType type, SampleType stored);

}  // namespace sepconv
