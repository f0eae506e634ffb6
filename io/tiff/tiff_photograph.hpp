// EXIF, XMP and IPTC of a TIFF (tags 34665, 34853, 700, 33723), which are read as they are stored.
#pragma once

#include "io/byte_file.hpp"
#include "io/metadata.hpp"
#include "io/tiff/ifd.hpp"

namespace sepconv {

/// Adds them to the metadata of the directory with these entries. What is damaged or too large is left out,
/// and then is among the tags that are not carried along. Returns whether a maker note is: it may hold places
/// that are counted in the file.
bool read_photograph(const InputFile& file, const TiffEntries& entries, Metadata& metadata);

}  // namespace sepconv
