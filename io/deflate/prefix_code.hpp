// Chooses lengths of prefix codes on the CPU.
#pragma once

#include <cstdint>
#include <span>

#include "core/deflate/block_code.hpp"

namespace sepconv::deflate {

/// Chooses lengths as core/deflate/prefix_code.hpp does, for unsorted symbols. Symbols with count 0 get
/// length 0.
void choose_lengths(std::span<const std::uint32_t> counts, int max_bits, std::span<std::uint8_t> lengths);

}  // namespace sepconv::deflate
