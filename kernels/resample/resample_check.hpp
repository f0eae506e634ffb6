// Argument checks of all resampling implementations. Private to this folder.
#pragma once

#include "kernels/resample/resample.hpp"

namespace sepconv {

/// Throws InvalidArgument unless the arguments are as resample.hpp requires.
void check_resampling(const Resampling& resampling, const ConstRegion& in, const Region& out);

}  // namespace sepconv
