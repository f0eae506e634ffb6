// Whether alpha is a weight or a mask, and why. Private to pipeline/plan.
#pragma once

#include <string>
#include <vector>

#include "pipeline/plan/missing.hpp"

namespace sepconv {

/// Which channel is alpha, and how, if each channel is computed for itself; else `missing.why` says that
/// alpha is not honoured. Throws InvalidArgument for a channel that is not there.
void take_alpha(const Reader& source, const Chain& chain, const MissingOptions& options,
                MissingPixels& missing);

/// Settles `missing.rule`, of a source whose alpha and missing values are known, and why it is that. Throws
/// InvalidArgument where alpha is asked to be a weight, and pixels are missing by something else.
void take_rule(const Reader& source, const Chain& chain, const MissingOptions& options,
               MissingPixels& missing);

/// What a plan says of alpha that is a weight.
std::vector<std::string> notes_of_weight(const MissingPixels& missing, const Chain& apply_nodata_policy);

}  // namespace sepconv
