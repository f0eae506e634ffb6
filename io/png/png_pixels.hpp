// The pixels of a PNG file: filtered and compressed, in IDAT chunks.
#pragma once

#include "core/image.hpp"
#include "io/byte_stream.hpp"

namespace sepconv {

/// Memory of it besides the image.
std::int64_t png_pixels_bytes(std::int64_t row_bytes) noexcept;

/// Writes the chunks from the first of the pixels' to the file's end. `level` as PngCoder has it. Throws
/// IoError.
void write_png_pixels(const PixelView& image, int level, OutputBytes& file);

/// A whole PNG file of u8 or u16, of one channel, three, or four (alpha), with nothing but its pixels.
std::vector<std::byte> png_in_memory(const PixelView& image);

}  // namespace sepconv
