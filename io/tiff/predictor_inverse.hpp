// Prefix sums, which undo differences of neighbours.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sepconv {

/// In place: each of `count` words of 1, 2, 4 or 8 bytes becomes the sum of itself and the words `step`,
/// twice `step` and so on before it, modulo its width.
void prefix_sum(std::byte* words, std::int64_t word_bytes, std::int64_t count, std::int64_t step) noexcept;

}  // namespace sepconv
