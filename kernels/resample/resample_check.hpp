// What every implementation of resampling asks of its arguments. Private to this folder.
#pragma once

#include "kernels/resample/resample.hpp"

namespace sepconv {

/// Throws InvalidArgument unless the arguments are as resample.hpp says.
void check_resampling(const Resampling& resampling, const ConstRegion& in, const Region& out);

}  // namespace sepconv
