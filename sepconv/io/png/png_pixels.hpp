// The pixels of a PNG file: filtered, compressed without a search, in IDAT chunks.
#pragma once

#include "sepconv/core/image.hpp"
#include "sepconv/io/byte_stream.hpp"

namespace sepconv {

/// Memory of it beside the image.
std::int64_t png_pixels_bytes(std::int64_t row_bytes) noexcept;

/// Writes the chunks from the first of the pixels' to the file's end. Throws IoError.
void write_png_pixels(const PixelView& image, OutputBytes& file);

}  // namespace sepconv
