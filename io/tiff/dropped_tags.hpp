// Lists the tags of a page that a result does not have.
#pragma once

#include <string>
#include <vector>

#include "io/tiff/tiff_file.hpp"

namespace sepconv {

/// Returns warnings about tags of the page that are neither in `metadata` nor needed to interpret the pixels,
/// and about texts that `metadata` has only in part. Tags that are too large to load are not included.
std::vector<std::string> tags_left_out(const TiffHandle& handle, const InputFile& file, const TiffPage& page,
                                       const Metadata& metadata);

}  // namespace sepconv
