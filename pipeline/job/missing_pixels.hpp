// Decides which pixels of a source are missing, before its chain is planned.
#pragma once

#include <string>
#include <vector>

#include "io/formats.hpp"
#include "pipeline/plan/plan.hpp"

namespace sepconv {

/// Adds the options that `missing` requires to the options for opening a source.
OpenOptions open_options(OpenOptions open, const MissingOptions& missing);

/// Missing pixels by the options, else by the source's metadata. A declared value that the source's type
/// cannot represent is ignored; alpha is used unless the chain mixes channels. Throws InvalidArgument if the
/// result's type cannot represent the value of missing pixels, and for options without effect.
MissingPixels missing_pixels(const Reader& source, const Chain& chain, const MissingOptions& options);

/// Plans the chain with the missing pixels that `options` and the source declare. Errors as of missing_pixels()
/// and plan().
Plan plan(const Reader& source, const Writer& sink, const Chain& chain, const PlanOptions& options = {});

/// Sets the nodata value in a result's metadata. A sentence about a lost declaration is added to `lost`.
/// `computes`: pixel values are computed, not only moved.
void declare(const MissingPixels& missing, bool computes, Metadata& metadata, std::vector<std::string>& lost);

}  // namespace sepconv
