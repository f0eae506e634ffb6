// Detects rasters of few values, which are classes or masks more often than intensities. Internal to job/.
#pragma once

#include <string>

#include "io/file_layout.hpp"
#include "io/reader.hpp"
#include "pipeline/chain/chain.hpp"

namespace sepconv {

/// Warning about smaller levels that are means, if a sample of the source has few values and the chain
/// preserves them; otherwise "". Reads some blocks of a file that supports random access.
std::string averaged_levels_warning(Reader& source, const Chain& chain, const FileLayout& layout);

}  // namespace sepconv
