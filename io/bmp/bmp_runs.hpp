// Decodes run-length encoded BMP pixels (RLE8, RLE4).
#pragma once

#include "core/image.hpp"
#include "io/bmp/bmp_header.hpp"

namespace sepconv {

/// Decodes all runs without output. Throws IoError for runs beyond the image, for colours that the palette
/// does not have, and for missing pixels at the end. Pixels skipped within the image have the palette's first
/// colour.
void check_bmp_runs(const InputFile& file, const BmpHeader& header);
/// Does the same and fills `out`, which has the shape of header.spec().
void decode_bmp_runs(const InputFile& file, const BmpHeader& header, const PixelView& out);

/// Writes a palette colour to `out`; `row` is used in the error message. Throws IoError if the palette has no
/// such index.
void put_bmp_colour(const InputFile& file, const BmpHeader& header, std::int64_t index, std::int64_t row,
                    std::uint8_t* out);

}  // namespace sepconv
