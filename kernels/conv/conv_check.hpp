// Argument checks of the convolutions; private to this folder.
#pragma once

#include "kernels/conv/conv.hpp"

namespace sepconv {

/// Throws InvalidArgument unless the arguments are as conv.hpp requires.
void check_convolution(const SeparableTaps& taps, const ConstRegion& in, const Region& out);

/// Throws InvalidArgument if the border mode is wrap and the taps reach beyond the image.
void check_wrapped(const SeparableTaps& taps, const Border& border, const Region& out);

}  // namespace sepconv
