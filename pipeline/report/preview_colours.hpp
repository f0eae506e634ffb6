// How a preview shows the values of a result. Internal to report/.
#pragma once

#include <optional>

#include "io/picture_colours.hpp"
#include "io/reader.hpp"
#include "pipeline/chain/chain.hpp"

namespace sepconv {

/// By which the result's values are shown; greys in even steps need none.
std::optional<ColourTable> table_of(const Reader& source, const Chain& chain);

/// Inks are seen as the colours that they print; else channels are what they are.
PictureColours colours_seen(const Reader& source, const ImageSpec& result);

}  // namespace sepconv
