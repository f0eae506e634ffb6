// Pixels with alpha as a file has them whose alpha is a mask, or is in none of its channels.
#pragma once

#include "core/image.hpp"

namespace sepconv {

/// `out` has all channels of `in` but the last.
void copy_but_last(const ConstPixelView& in, const PixelView& out) noexcept;

/// A u8 mask: 0 where this channel is 0 or NaN, 255 elsewhere.
void make_mask(const ConstPixelView& in, std::int64_t channel, const PixelView& mask) noexcept;

}  // namespace sepconv
