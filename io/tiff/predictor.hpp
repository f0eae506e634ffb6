// TIFF's predictors (TIFF 6.0, section 14; for floating point Adobe's TIFF technical note 3).
#pragma once

#include <cstddef>
#include <span>

#include "io/tiff/block_format.hpp"

namespace sepconv {

/// `rows`: those of a block, `pitch_bytes` apart, in this machine's byte order. `to`, without gaps, gets what
/// is compressed of them, in the same order: of each element its difference from the pixel before.
void apply_predictor(const std::byte* rows, std::int64_t pitch_bytes, std::byte* to,
                     const BlockFormat& format);

/// `rows`: whole rows of a block as they were before compression. In place: differences become values, and
/// values get this machine's byte order.
void undo_predictor(std::span<std::byte> rows, const BlockFormat& format);

}  // namespace sepconv
