// What touches every byte of a block that is coded: counting, finding repeats, packing codes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sepconv/io/deflate/bit_sink.hpp"

namespace sepconv::deflate {

inline constexpr std::int64_t kLeastRepeat = 16;

/// `length` bytes at `position` are those `distance` before.
struct Repeat {
  std::int64_t position, length, distance;
};

/// The codes of the 256 bytes: bits in the upper half, at most 14, and the code in the lower.
using ByteCodes = std::array<std::uint32_t, 256>;

/// Adds how often each byte is there.
void count_bytes(std::span<const std::byte> bytes, std::span<std::uint32_t, 256> counts) noexcept;

/// Appends the repeats within [first, last) of `data` at either distance, in order and apart from each other,
/// each of kLeastRepeat bytes or more. Distances are from 1 to 32768; what they reach may lie before `first`.
void find_repeats(std::span<const std::byte> data, std::int64_t first, std::int64_t last,
                  std::array<std::int64_t, 2> distances, std::vector<Repeat>& repeats);

/// Packs the codes of all bytes.
void put_bytes(std::span<const std::byte> bytes, const ByteCodes& codes, BitSink& sink) noexcept;

}  // namespace sepconv::deflate
