// TIFF's predictors (TIFF 6.0, section 14; for floating point Adobe's TIFF technical note 3).
#pragma once

#include <cstddef>
#include <span>

#include "io/tiff/block_format.hpp"

namespace sepconv {

/// `rows`: the rows of a block, `pitch_bytes` apart, in native byte order. `to`, without gaps, gets the bytes
/// to be compressed, in the same order: the difference of each element from the pixel before.
void apply_predictor(const std::byte* rows, std::int64_t pitch_bytes, std::byte* to,
                     const BlockFormat& format);

/// `rows`: whole rows of a decompressed block. Converts differences to values, and values to native byte
/// order, in place.
void undo_predictor(std::span<std::byte> rows, const BlockFormat& format);

}  // namespace sepconv
