// Which pixels are missing: those of one value, and those that are NaN.
#pragma once

#include "sepconv/core/image.hpp"

namespace sepconv {

enum class Presence : std::uint8_t { all_there, some_missing, all_missing };

/// What of `pixels`, in host memory, is missing: every element that equals `missing`, rounded to the pixels'
/// type, and every NaN. A `missing` that an integer type cannot hold, as NaN, is none of its elements. Of no
/// pixels all are there.
Presence presence_of(const ConstPixelView& pixels, double missing);

/// Makes every element `value`, which the type can hold, or NaN of a floating one.
void fill_pixels(const PixelView& pixels, double value);

}  // namespace sepconv
