// What of a page's tags a result will not have.
#pragma once

#include <string>
#include <vector>

#include "io/tiff/tiff_file.hpp"

namespace sepconv {

/// A sentence each about the page's tags that are neither in `metadata` nor needed to understand the pixels,
/// and about texts of which `metadata` has a part. Those that are too large to hold are not among them.
std::vector<std::string> tags_left_out(const TiffHandle& handle, const InputFile& file, const TiffPage& page,
                                       const Metadata& metadata);

}  // namespace sepconv
