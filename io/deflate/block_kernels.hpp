// Loops over every byte of a block that is encoded: counting, match finding, packing of codes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/deflate/block_code.hpp"
#include "io/deflate/bit_sink.hpp"

namespace sepconv::deflate {

/// `length` bytes at `position` equal those `distance` before.
struct Match {
  std::int64_t position, length, distance;
};

/// The codes of the 256 byte values, in two representations.
struct ByteCodes {
  /// for vectors: halves of the code, its number of bits
  alignas(64) std::array<std::uint8_t, 256> low, high, bits;
  std::array<std::uint32_t, 256> packed;  ///< the code, and its number of bits in the upper half

  /// `count`: bits of the code, at most 14.
  void set(std::size_t byte, std::uint16_t code, std::uint8_t count) noexcept {
    low[byte] = static_cast<std::uint8_t>(code);
    high[byte] = static_cast<std::uint8_t>(code >> 8);
    bits[byte] = count;
    packed[byte] = code | std::uint32_t{count} << 16;
  }
};

/// Histogram of byte values.
class ByteCounts {
 public:
  void add(std::span<const std::byte> bytes) noexcept;
  void add_to(std::span<std::uint32_t, 256> counts) const noexcept;

 private:
  // 8 tables, since neighbours are often equal and a counter incremented twice in a row waits for its store.
  std::array<std::array<std::uint32_t, 256>, 8> tables_{};
};

/// Appends the matches within [first, last) of `data` at either distance, in order and without overlap, each
/// of at least kMinMatch bytes. Distances are 1 to 32768; the earlier copy may lie before `first`.
void find_matches(std::span<const std::byte> data, std::int64_t first, std::int64_t last,
                  std::array<std::int64_t, 2> distances, std::vector<Match>& matches);

/// Packs the codes of all bytes in order.
void put_bytes(std::span<const std::byte> bytes, const ByteCodes& codes, BitSink& sink) noexcept;
/// Packs the codes of all bytes from the last to the first.
void put_bytes_backwards(std::span<const std::byte> bytes, const ByteCodes& codes, BitSink& sink) noexcept;

}  // namespace sepconv::deflate
