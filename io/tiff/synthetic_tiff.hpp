// A TIFF of a single strip, header and directory only, on which a decoder opens its libtiff handle.
#pragma once

#include <cstddef>
#include <vector>

#include "io/tiff/block_format.hpp"

namespace sepconv {

/// A handle on these few hundred bytes decodes any block of this format from memory (TIFFReadFromUserBuffer).
/// So the many handles of a reader need neither the file's block tables nor its profiles, and see only tags
/// that we wrote. Codecs treat tiles and strips alike, as rows of pixels.
std::vector<std::byte> one_block_tiff(const BlockFormat& format);

}  // namespace sepconv
