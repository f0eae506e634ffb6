// What a decoder of deflate looks the next bits up in.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "io/deflate/prefix_code.hpp"

namespace sepconv::deflate {

/// What some bits stand for. From the lowest bit: how many bits it takes (6 bits) and how many bytes those
/// stand for (2); then up to three bytes, the first lowest, or, if it is none: the bits of the code without
/// those that follow it (4), a value (16) and its kind (4).
class Entry {
 public:
  enum class Kind : std::uint8_t { value, subtable, end_of_block, invalid };

  constexpr Entry() = default;
  /// A length or distance: least of those that the `extra_bits` behind the code choose from.
  constexpr Entry(Kind kind, unsigned code_bits, unsigned extra_bits, unsigned value) noexcept
      : word_((code_bits + extra_bits) | code_bits << 8 | value << 12 |
              static_cast<std::uint32_t>(kind) << 28) {}

  static constexpr Entry of_bytes(unsigned bits, unsigned count, std::uint32_t bytes) noexcept {
    Entry entry;
    entry.word_ = bits | count << 6 | bytes << 8;
    return entry;
  }

  constexpr unsigned bits() const noexcept { return word_ & 63; }
  constexpr bool has_bytes() const noexcept { return (word_ & 3 << 6) != 0; }
  constexpr unsigned count() const noexcept { return word_ >> 6 & 3; }
  constexpr std::uint32_t bytes() const noexcept { return word_ >> 8; }
  constexpr Kind kind() const noexcept { return static_cast<Kind>(word_ >> 28); }
  /// For a subtable: where it begins.
  constexpr unsigned value() const noexcept { return word_ >> 12 & 0xFFFF; }
  /// The value with what its extra bits add, which `bits` has behind the code.
  constexpr unsigned value_in(std::uint64_t held) const noexcept {
    return value() + static_cast<unsigned>((held & ((std::uint64_t{1} << bits()) - 1)) >> (word_ >> 8 & 15));
  }

 private:
  std::uint32_t word_ = 0;
};

/// Symbols that a block can give codes.
inline constexpr std::size_t kMaxLengths = 288, kMaxDistances = 32;

/// A table for the first kBits bits. Where a code is longer, the entry is a subtable's, for the bits that
/// follow those.
template <unsigned kBits, std::size_t kSymbols>
struct DecodingTable {
  static constexpr std::uint64_t kMask = (1u << kBits) - 1;
  static constexpr unsigned kSubtableBits = kMaxBits - kBits;
  static constexpr std::uint64_t kSubtableMask = (1u << kSubtableBits) - 1;

  std::array<Entry, (1u << kBits) + (kSymbols / 2 << kSubtableBits)> entries;
};

using LengthTable = DecodingTable<13, kMaxLengths>;  ///< of bytes, too
using DistanceTable = DecodingTable<9, kMaxDistances>;
using BitsTable = DecodingTable<7, 0>;  ///< of how many bits codes have, as bytes: no code has more than 7

/// Make a table of the bits of each symbol's code (0: none; at most 15); false: they are not a complete code. A
/// single code of one bit will do, but for a BitsTable, and none for distances.
bool make_table(std::span<const std::uint8_t> bits, LengthTable& table) noexcept;
bool make_table(std::span<const std::uint8_t> bits, DistanceTable& table) noexcept;
bool make_table(std::span<const std::uint8_t> bits, BitsTable& table) noexcept;

}  // namespace sepconv::deflate
