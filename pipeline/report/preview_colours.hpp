// The colours of a preview.
#pragma once

#include <optional>

#include "io/picture_colours.hpp"
#include "io/reader.hpp"
#include "pipeline/chain/chain.hpp"

namespace sepconv {

/// The colour table for the result's values; empty if none applies or the table is a plain grey ramp.
std::optional<ColourTable> table_of(const Reader& source, const Chain& chain);

/// The colour conversion of a preview: CMYK to RGB; other channels are not converted.
PictureColours preview_colours(const Reader& source, const ImageSpec& result);

}  // namespace sepconv
