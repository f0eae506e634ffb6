// TIFF's predictors undone: what a codec delivers becomes pixels.
#pragma once

#include <cstddef>
#include <span>

#include "sepconv/io/tiff/block_format.hpp"

namespace sepconv {

/// `rows`: whole rows of a block as they were before compression. In place: differences become values
/// (TIFF 6.0, section 14; for floating point Adobe's TIFF technical note 3), and values get this machine's
/// byte order.
void undo_predictor(std::span<std::byte> rows, const BlockFormat& format);

}  // namespace sepconv
