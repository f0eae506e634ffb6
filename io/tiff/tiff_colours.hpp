// The colour table of a directory: libtiff's ColorMap to Metadata and back.
#pragma once

#include "io/metadata.hpp"
#include "io/tiff/tiff_handle.hpp"

namespace sepconv {

/// Adds that of the current directory, if it is a palette of values that have one, and how these are meant;
/// `are_luts`: no table of the file is of classes. Of packed pixels greys in even steps are left to who shows
/// these.
void add_colours(const TiffHandle& handle, bool are_luts, Metadata& metadata);

/// Sets that of a directory in the making, where its photometric interpretation has one.
void write_colours(const TiffHandle& handle, const Metadata& metadata);

}  // namespace sepconv
