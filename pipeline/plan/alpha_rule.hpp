// Decides whether alpha is a weight or a mask. Private to pipeline/plan.
#pragma once

#include <string>
#include <vector>

#include "pipeline/plan/missing.hpp"

namespace sepconv {

/// Sets the alpha channel in `missing` if the chain does not mix it with other channels; otherwise appends to
/// `missing.why` that alpha is ignored. Throws InvalidArgument for a channel that does not exist.
void find_alpha(const Reader& source, const Chain& chain, const MissingOptions& options,
                MissingPixels& missing);

/// Sets `missing.rule` and its reason; alpha and missing values must be known. Throws InvalidArgument if
/// alpha is requested as a weight while something else makes pixels missing.
void choose_alpha_rule(const Reader& source, const Chain& chain, const MissingOptions& options,
                       MissingPixels& missing);

/// Plan notes for alpha that is a weight.
std::vector<std::string> alpha_weight_notes(const MissingPixels& missing, const Chain& nodata_chain);

}  // namespace sepconv
