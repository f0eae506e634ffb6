// Checks of images and views that callers pass to public functions, in every build.
#pragma once

#include <string_view>

#include "core/image.hpp"

namespace sepconv {

/// Throws InvalidArgument, with `name`, unless the image has pixels and its size in bytes fits in 64 bits.
void check_image(std::string_view name, const ImageSpec& spec);

/// The same, and checks that the view has aligned memory with rows that do not overlap.
void check_view(std::string_view name, const ConstPixelView& view);

/// Throws InvalidArgument if the pixels of the views overlap; both must have passed check_view(). Two
/// adjacent parts of one image do not overlap, although their rows alternate.
void check_apart(std::string_view name, const ConstPixelView& view, std::string_view other_name,
                 const ConstPixelView& other);

}  // namespace sepconv
