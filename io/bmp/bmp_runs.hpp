// Pixels of a BMP as run lengths (RLE8, RLE4).
#pragma once

#include "core/image.hpp"
#include "io/bmp/bmp_header.hpp"

namespace sepconv {

/// Follows the runs to their end and throws IoError for any that the image has no room for, for colours that
/// the palette does not have, and where pixels are missing at the end; what is passed over within the image
/// is the palette's first colour.
void check_bmp_runs(const InputFile& file, const BmpHeader& header);
/// The same, and fills `out`, of header.spec().
void decode_bmp_runs(const InputFile& file, const BmpHeader& header, const PixelView& out);

/// A colour of the palette to where it belongs; throws IoError where the palette has none of this number.
void put_bmp_colour(const InputFile& file, const BmpHeader& header, std::int64_t index, std::int64_t row,
                    std::uint8_t* out);

}  // namespace sepconv
