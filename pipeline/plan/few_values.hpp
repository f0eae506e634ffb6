// Rasters of few values, which are classes or masks more often than intensities. Internal to plan/.
#pragma once

#include <string>

#include "io/file_layout.hpp"
#include "io/reader.hpp"
#include "pipeline/chain/chain.hpp"

namespace sepconv {

/// What is to be said of smaller levels that are means, where a sample of the source has few values and the
/// chain keeps them; empty: nothing. Reads some blocks of a file that can be read in part.
std::string warning_of_mean_levels(Reader& source, const Chain& chain, const FileLayout& layout);

}  // namespace sepconv
