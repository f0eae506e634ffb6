// What every public function asks of images and views that a caller hands in, in every build.
#pragma once

#include <string_view>

#include "core/image.hpp"

namespace sepconv {

/// Throws InvalidArgument, with `name`, unless the image has pixels whose bytes count in 64 bits.
void check_image(std::string_view name, const ImageSpec& spec);

/// The same, and that there is memory, aligned, with rows that do not reach into each other.
void check_view(std::string_view name, const ConstPixelView& view);

/// Throws InvalidArgument if a byte of pixels lies in both, which have passed check_view(). Two parts of one
/// image side by side do not overlap, though their rows alternate.
void check_apart(std::string_view name, const ConstPixelView& view, std::string_view other_name,
                 const ConstPixelView& other);

}  // namespace sepconv
