// Lengths of prefix codes, on the CPU.
#pragma once

#include <cstdint>
#include <span>

#include "core/deflate/block_code.hpp"

namespace sepconv::deflate {

/// As core/deflate/prefix_code.hpp has it, for symbols as they come: 0 for those that are not
/// counted.
void choose_lengths(std::span<const std::uint32_t> counts, int max_bits, std::span<std::uint8_t> lengths);

}  // namespace sepconv::deflate
