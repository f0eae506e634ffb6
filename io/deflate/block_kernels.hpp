// What touches every byte of a block that is coded: counting, finding repeats, packing codes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/deflate/block_code.hpp"
#include "io/deflate/bit_sink.hpp"

namespace sepconv::deflate {

/// `length` bytes at `position` are those `distance` before.
struct Match {
  std::int64_t position, length, distance;
};

/// The codes of the 256 bytes, each in two ways.
struct ByteCodes {
  alignas(64) std::array<std::uint8_t, 256> low, high, bits;  ///< for vectors: halves of the code, its length
  std::array<std::uint32_t, 256> words;                       ///< the code, and its length in the upper half

  /// `count` bits: at most 14.
  void set(std::size_t byte, std::uint16_t code, std::uint8_t count) noexcept {
    low[byte] = static_cast<std::uint8_t>(code);
    high[byte] = static_cast<std::uint8_t>(code >> 8);
    bits[byte] = count;
    words[byte] = code | std::uint32_t{count} << 16;
  }
};

/// How often each byte is there.
class ByteCounts {
 public:
  void add(std::span<const std::byte> bytes) noexcept;
  void add_to(std::span<std::uint32_t, 256> counts) const noexcept;

 private:
  // Neighbours are often equal, and a counter that is incremented twice in a row waits for its store.
  std::array<std::array<std::uint32_t, 256>, 8> tables_{};
};

/// Appends the repeats within [first, last) of `data` at either distance, in order and apart from each other,
/// each of kMinMatch bytes or more. Distances are from 1 to 32768; what they reach may lie before `first`.
void find_matches(std::span<const std::byte> data, std::int64_t first, std::int64_t last,
                  std::array<std::int64_t, 2> distances, std::vector<Match>& repeats);

/// Packs the codes of all bytes.
void put_bytes(std::span<const std::byte> bytes, const ByteCodes& codes, BitSink& sink) noexcept;
/// From the last one to the first.
void put_bytes_backwards(std::span<const std::byte> bytes, const ByteCodes& codes, BitSink& sink) noexcept;

}  // namespace sepconv::deflate
