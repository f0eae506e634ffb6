// The pixels of a PNG file: filtered and compressed, in IDAT chunks.
#pragma once

#include "core/image.hpp"
#include "io/byte_stream.hpp"

namespace sepconv {

/// Memory of write_png_pixels() besides the image.
std::int64_t png_pixels_bytes(std::int64_t row_bytes) noexcept;

/// Writes the IDAT chunks and IEND. `level` is that of PngCoder. Throws IoError.
void write_png_pixels(const PixelView& image, int level, OutputBytes& file);

/// Returns a PNG file of a u8 or u16 image with one channel, three, or four (alpha), without metadata.
std::vector<std::byte> encode_png_in_memory(const PixelView& image);

}  // namespace sepconv
