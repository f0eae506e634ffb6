// Reads EXIF, XMP and IPTC of a TIFF (tags 34665, 34853, 700, 33723) as they are stored.
#pragma once

#include "io/byte_file.hpp"
#include "io/metadata.hpp"
#include "io/tiff/ifd.hpp"

namespace sepconv {

/// Adds the data to the metadata of the directory with these entries. Damaged or too large data are left out
/// and then reported as tags that are not carried along. Returns whether a maker note exists: it may contain
/// offsets within the file.
bool read_photograph(const InputFile& file, const TiffEntries& entries, Metadata& metadata);

}  // namespace sepconv
