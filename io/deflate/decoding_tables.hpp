// Look-up tables of the deflate decoder.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "io/deflate/prefix_code.hpp"

namespace sepconv::deflate {

/// The meaning of the next bits. From the lowest bit: the number of bits to consume (6 bits), the number of
/// bytes they encode (2 bits); then up to three bytes, the first lowest, or, if there are no bytes: the bits
/// of the code without its extra bits (4), a value (16) and its kind (4).
class Entry {
 public:
  enum class Kind : std::uint8_t { value, subtable, end_of_block, invalid };

  constexpr Entry() = default;
  /// A length or distance: `value` is the base, to which `extra_bits` after the code are added.
  constexpr Entry(Kind kind, unsigned code_bits, unsigned extra_bits, unsigned value) noexcept
      : word_((code_bits + extra_bits) | code_bits << 8 | value << 12 |
              static_cast<std::uint32_t>(kind) << 28) {}

  static constexpr Entry from_bytes(unsigned bits, unsigned count, std::uint32_t bytes) noexcept {
    Entry entry;
    entry.word_ = bits | count << 6 | bytes << 8;
    return entry;
  }

  constexpr unsigned bits() const noexcept { return word_ & 63; }
  constexpr bool has_bytes() const noexcept { return (word_ & 3 << 6) != 0; }
  constexpr unsigned count() const noexcept { return word_ >> 6 & 3; }
  constexpr std::uint32_t bytes() const noexcept { return word_ >> 8; }
  constexpr Kind kind() const noexcept { return static_cast<Kind>(word_ >> 28); }
  /// For a subtable: its first index.
  constexpr unsigned value() const noexcept { return word_ >> 12 & 0xFFFF; }
  /// Returns the value plus its extra bits, which follow the code in `bit_buffer`.
  constexpr unsigned value_in(std::uint64_t bit_buffer) const noexcept {
    return value() +
           static_cast<unsigned>((bit_buffer & ((std::uint64_t{1} << bits()) - 1)) >> (word_ >> 8 & 15));
  }

 private:
  std::uint32_t word_ = 0;
};

/// Maximum numbers of symbols of a block.
inline constexpr std::size_t kMaxLengths = 288, kMaxDistances = 32;

/// A table for the first kBits bits. If a code is longer, the entry refers to a subtable for the following
/// bits.
template <unsigned kBits, std::size_t kSymbols>
struct DecodingTable {
  static constexpr std::uint64_t kMask = (1u << kBits) - 1;
  static constexpr unsigned kSubtableBits = kMaxBits - kBits;
  static constexpr std::uint64_t kSubtableMask = (1u << kSubtableBits) - 1;

  std::array<Entry, (1u << kBits) + (kSymbols / 2 << kSubtableBits)> entries;
};

using LengthTable = DecodingTable<13, kMaxLengths>;  ///< also of literal bytes
using DistanceTable = DecodingTable<9, kMaxDistances>;
using CodeLengthTable =
    DecodingTable<7, 0>;  ///< code lengths, stored as bytes; their codes have at most 7 bits

/// Build a table from the number of bits of each symbol's code (0: no code; at most 15). Return false if the
/// code is incomplete. A single code of one bit is accepted, except for a CodeLengthTable; no code at all is
/// accepted for distances.
bool make_table(std::span<const std::uint8_t> bits, LengthTable& table) noexcept;
bool make_table(std::span<const std::uint8_t> bits, DistanceTable& table) noexcept;
bool make_table(std::span<const std::uint8_t> bits, CodeLengthTable& table) noexcept;

}  // namespace sepconv::deflate
