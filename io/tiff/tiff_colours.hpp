// Converts the colour table of a directory, libtiff's ColorMap, to Metadata and back.
#pragma once

#include "io/metadata.hpp"
#include "io/tiff/tiff_handle.hpp"

namespace sepconv {

/// Adds the colour table of the current directory, if it is a palette of a supported type, and its
/// photometric interpretation. `are_luts`: no table of the file is for classes. For packed pixels a grey ramp
/// is not added as a table.
void add_colours(const TiffHandle& handle, bool are_luts, Metadata& metadata);

/// Sets the colour table of a new directory if its photometric interpretation has one.
void write_colours(const TiffHandle& handle, const Metadata& metadata);

}  // namespace sepconv
