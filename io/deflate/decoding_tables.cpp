#include "io/deflate/decoding_tables.hpp"

#include <algorithm>
#include <bit>

namespace sepconv::deflate {
namespace {

using Kind = Entry::Kind;

/// Symbols that have codes, by their bits and then by value, which is the order of the codes; those as a
/// stream has them, first bit lowest.
struct SortedCodes {
  std::array<std::uint16_t, kMaxBits + 2> first{};  ///< of those of this many bits; behind them how many
  std::array<std::uint16_t, kMaxLengths> symbols, codes;
  bool complete = false, single = false, none = false;

  explicit SortedCodes(std::span<const std::uint8_t> bits) noexcept {
    std::array<std::uint16_t, kMaxBits + 2> next{};
    for (const std::uint8_t length : bits) ++next[length];
    next[0] = 0;
    std::uint32_t taken = 0;
    for (unsigned length = 1; length <= kMaxBits; ++length) {
      first[length + 1] = static_cast<std::uint16_t>(first[length] + next[length]);
      taken += std::uint32_t{next[length]} << (kMaxBits - length);
      next[length] = first[length];
    }
    none = taken == 0;
    single = first[kMaxBits + 1] == 1 && first[2] == 1;
    complete = taken == 1u << kMaxBits;
    if (!complete && !single) return;
    for (std::size_t symbol = 0; symbol < bits.size(); ++symbol)
      if (bits[symbol] != 0) symbols[next[bits[symbol]]++] = static_cast<std::uint16_t>(symbol);
    std::uint32_t code = 0;
    for (unsigned length = 1; length <= kMaxBits; ++length) {
      for (std::size_t i = first[length]; i < first[length + 1]; ++i) {
        codes[i] = static_cast<std::uint16_t>(code);
        // Plus 1 from the highest bit down: the highest 0 becomes 1, and what is above it 0.
        const std::uint32_t bit = std::bit_floor(code ^ ((1u << length) - 1));
        code = bit == 0 ? 0 : (code & (bit - 1)) | bit;
      }
    }
  }
};

/// Codes of one byte or of two in a row, by their bits.
template <std::size_t kMax>
struct Pieces {
  struct Piece {
    std::uint16_t code, bytes;
  };
  std::array<std::uint16_t, kMaxBits + 2> first{};
  std::array<Piece, kMax> pieces;

  std::span<const Piece> of(unsigned bits) const noexcept {
    return {pieces.data() + first[bits], pieces.data() + first[bits + 1]};
  }
};

/// Entries for two bytes and for three whose codes have `bits` bits in all.
struct Joiner {
  explicit Joiner(const SortedCodes& codes) noexcept {
    std::uint16_t count = 0;
    for (unsigned length = 1; length <= kMaxBits; ++length) {
      singles.first[length] = count;
      for (std::size_t i = codes.first[length]; i < codes.first[length + 1]; ++i)
        if (codes.symbols[i] < kEndOfBlock) singles.pieces[count++] = {codes.codes[i], codes.symbols[i]};
    }
    singles.first[kMaxBits + 1] = count;
  }

  void join(unsigned bits, std::array<Entry, std::size(LengthTable{}.entries)>& entries) noexcept {
    std::uint16_t count = pairs.first[bits];
    for (unsigned length = 1; length < bits; ++length) {
      for (const auto one : singles.of(length)) {
        for (const auto other : singles.of(bits - length)) {
          const auto code = static_cast<std::uint16_t>(one.code | other.code << length);
          const auto bytes = static_cast<std::uint16_t>(one.bytes | other.bytes << 8);
          pairs.pieces[count++] = {code, bytes};
          entries[code] = Entry::of_bytes(bits, 2, bytes);
        }
        for (const auto two : pairs.of(bits - length)) {
          entries[static_cast<std::size_t>(one.code | two.code << length)] =
              Entry::of_bytes(bits, 3, one.bytes | std::uint32_t{two.bytes} << 8);
        }
      }
    }
    pairs.first[bits + 1] = count;
  }

  Pieces<256> singles;
  // As pairs of a prefix code's codes are a prefix code, there are no more of them than entries.
  Pieces<LengthTable::kMask + 1> pairs;
};

/// `entry_of(symbol, bits)`; `join(bits)` adds entries of this many bits.
template <class Table, class EntryOf, class Join>
void fill(const SortedCodes& codes, Table& table, EntryOf entry_of, Join join) noexcept {
  constexpr auto kBits = static_cast<unsigned>(std::bit_width(Table::kMask));
  auto& entries = table.entries;
  entries[0] = Entry(Kind::invalid, 0, 0, 0);
  for (unsigned bits = 1; bits <= kBits; ++bits) {
    std::copy_n(entries.begin(), 1u << (bits - 1), entries.begin() + (1u << (bits - 1)));
    for (std::size_t i = codes.first[bits]; i < codes.first[bits + 1]; ++i)
      entries[codes.codes[i]] = entry_of(codes.symbols[i], bits);
    join(bits);
  }
  std::size_t end = Table::kMask + 1, subtable = 0;
  std::uint64_t last = ~std::uint64_t{0};
  for (unsigned bits = kBits + 1; bits <= kMaxBits; ++bits) {
    for (std::size_t i = codes.first[bits]; i < codes.first[bits + 1]; ++i) {
      if ((codes.codes[i] & Table::kMask) != last) {
        last = codes.codes[i] & Table::kMask;
        subtable = end;
        end += Table::kSubtableMask + 1;
        entries[last] = Entry(Kind::subtable, kBits, 0, static_cast<unsigned>(subtable));
      }
      const Entry entry = entry_of(codes.symbols[i], bits - kBits);
      for (std::size_t at = codes.codes[i] >> kBits; at <= Table::kSubtableMask; at += 1u << (bits - kBits))
        entries[subtable + at] = entry;
    }
  }
}

/// Lengths are 3 and more, in groups of four; distances 1 and more, in groups of two (RFC 1951, 3.2.5).
Entry value_entry(std::size_t symbol, unsigned group_bits, unsigned least, unsigned bits) noexcept {
  const auto group = static_cast<unsigned>(symbol >> group_bits);
  const unsigned extra = group > 1 ? group - 1 : 0;
  const auto within = static_cast<unsigned>(symbol & ((1u << group_bits) - 1));
  const unsigned first = group == 0 ? within : ((1u << group_bits) + within) << extra;
  return {Kind::value, bits, extra, first + least};
}

Entry length_entry(std::size_t symbol, unsigned bits) noexcept {
  if (symbol < kEndOfBlock) return Entry::of_bytes(bits, 1, static_cast<std::uint32_t>(symbol));
  if (symbol == kEndOfBlock) return {Kind::end_of_block, bits, 0, 0};
  if (symbol > 285) return {Kind::invalid, bits, 0, 0};
  return symbol == 285 ? Entry(Kind::value, bits, 0, 258) : value_entry(symbol - 257, 2, 3, bits);
}

Entry distance_entry(std::size_t symbol, unsigned bits) noexcept {
  return symbol < 30 ? value_entry(symbol, 1, 1, bits) : Entry(Kind::invalid, bits, 0, 0);
}

}  // namespace

bool make_table(std::span<const std::uint8_t> bits, LengthTable& table) noexcept {
  const SortedCodes codes(bits);
  if (!codes.complete && !codes.single) return false;
  Joiner joiner(codes);
  fill(codes, table, length_entry, [&](unsigned length) { joiner.join(length, table.entries); });
  return true;
}

bool make_table(std::span<const std::uint8_t> bits, DistanceTable& table) noexcept {
  const SortedCodes codes(bits);
  if (!codes.complete && !codes.single && !codes.none) return false;
  fill(codes, table, distance_entry, [](unsigned) {});
  return true;
}

bool make_table(std::span<const std::uint8_t> bits, BitsTable& table) noexcept {
  const SortedCodes codes(bits);
  if (!codes.complete) return false;
  fill(codes, table, length_entry, [](unsigned) {});
  return true;
}

}  // namespace sepconv::deflate
