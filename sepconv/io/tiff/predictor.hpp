// TIFF's predictors (TIFF 6.0, section 14; for floating point Adobe's TIFF technical note 3).
#pragma once

#include <cstddef>
#include <span>

#include "sepconv/io/tiff/block_format.hpp"

namespace sepconv {

/// `rows`: whole rows of a block in this machine's byte order. `to`, of the same size, gets what is
/// compressed of them, in the same order: of each element its difference from the pixel before.
void apply_predictor(std::span<const std::byte> rows, std::span<std::byte> to, const BlockFormat& format);

/// `rows`: whole rows of a block as they were before compression. In place: differences become values, and
/// values get this machine's byte order.
void undo_predictor(std::span<std::byte> rows, const BlockFormat& format);

}  // namespace sepconv
