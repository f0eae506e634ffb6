// A TIFF of a single strip, header and directory only: what a decoder's libtiff handle is opened on.
#pragma once

#include <cstddef>
#include <vector>

#include "io/tiff/block_format.hpp"

namespace sepconv {

/// A handle on these few hundred bytes decodes any block of this format, handed to it from memory
/// (TIFFReadFromUserBuffer). So the many handles of a reader need neither the file's block tables nor its
/// profiles, and see no tag that we have not written ourselves. Tile or strip makes no difference to a codec:
/// both are rows of pixels.
std::vector<std::byte> one_block_tiff(const BlockFormat& format);

}  // namespace sepconv
