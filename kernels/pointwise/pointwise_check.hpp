// Argument checks of the pointwise operations; private to this folder.
#pragma once

#include "kernels/pointwise/alpha.hpp"

namespace sepconv {

/// All throw InvalidArgument unless the arguments are as pointwise.hpp requires.
void check_pointwise(const PointwiseOp& op, const ConstPixelView& a, const ConstPixelView& b,
                     const PixelView& out);
void check_mix_channels(const ChannelMatrix& matrix, const ConstPixelView& in, const PixelView& out);
void check_alpha(const AlphaOp& op, const ConstPixelView& in, const PixelView& out);

}  // namespace sepconv
