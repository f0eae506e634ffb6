// What convolve_reference and convolve_host ask of their arguments; private to this folder.
#pragma once

#include "kernels/conv/conv.hpp"

namespace sepconv {

/// Throws InvalidArgument unless the arguments are as conv.hpp says.
void check_convolution(const SeparableTaps& taps, const ConstRegion& in, const Region& out);

/// Throws InvalidArgument if the border is a wrapped one and is reached.
void check_wrapped(const SeparableTaps& taps, const Border& border, const Region& out);

}  // namespace sepconv
