// An image of a TIFF and the mask that another page holds for it.
#pragma once

#include <memory>

#include "sepconv/io/reader.hpp"

namespace sepconv {

/// Whether the mask is one of the image's size and of one integer channel, as masks are.
bool is_mask_of(const Reader& mask, const Reader& image);

/// The image, in which pixels are missing where the mask is 0. Of floating pixels they are the image's nodata
/// value, or NaN, which becomes that. Of integers alpha is 0 there: the image's own, or else one channel
/// more, which is opaque elsewhere. SourceLayout::warnings say which. Without a mask, of an image among
/// others that have some, all is there.
std::unique_ptr<Reader> make_masked_reader(std::unique_ptr<Reader> image, std::unique_ptr<Reader> mask);

}  // namespace sepconv
