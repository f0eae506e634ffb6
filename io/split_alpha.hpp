// Splits alpha from pixels, for files that store it as a mask or not at all.
#pragma once

#include "core/image.hpp"

namespace sepconv {

/// Copies all channels except the last.
void copy_but_last(const ConstPixelView& in, const PixelView& out) noexcept;

/// Computes a u8 mask: 0 where this channel is 0 or NaN, 255 elsewhere.
void make_mask(const ConstPixelView& in, std::int64_t channel, const PixelView& mask) noexcept;

}  // namespace sepconv
