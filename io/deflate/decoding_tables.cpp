#include "io/deflate/decoding_tables.hpp"

#include <algorithm>
#include <bit>

namespace sepconv::deflate {
namespace {

using Kind = Entry::Kind;

/// Symbols that have codes, sorted by number of bits and then by value, which is the order of the codes.
/// Codes have their first bit lowest, as in the stream.
struct SortedCodes {
  /// index of the first code with this many bits; the last element is the number of codes
  std::array<std::uint16_t, kMaxBits + 2> first{};
  std::array<std::uint16_t, kMaxLengths> symbols, codes;
  bool complete = false, single = false, empty = false;

  explicit SortedCodes(std::span<const std::uint8_t> bits) noexcept {
    std::array<std::uint16_t, kMaxBits + 2> next{};
    for (const std::uint8_t length : bits) ++next[length];
    next[0] = 0;
    std::uint32_t used = 0;
    for (unsigned length = 1; length <= kMaxBits; ++length) {
      first[length + 1] = static_cast<std::uint16_t>(first[length] + next[length]);
      used += std::uint32_t{next[length]} << (kMaxBits - length);
      next[length] = first[length];
    }
    empty = used == 0;
    single = first[kMaxBits + 1] == 1 && first[2] == 1;
    complete = used == 1u << kMaxBits;
    if (!complete && !single) return;
    for (std::size_t symbol = 0; symbol < bits.size(); ++symbol)
      if (bits[symbol] != 0) symbols[next[bits[symbol]]++] = static_cast<std::uint16_t>(symbol);
    std::uint32_t code = 0;
    for (unsigned length = 1; length <= kMaxBits; ++length) {
      for (std::size_t i = first[length]; i < first[length + 1]; ++i) {
        codes[i] = static_cast<std::uint16_t>(code);
        // Increments the bit-reversed code: the highest 0 becomes 1, and the bits above it 0.
        const std::uint32_t bit = std::bit_floor(code ^ ((1u << length) - 1));
        code = bit == 0 ? 0 : (code & (bit - 1)) | bit;
      }
    }
  }
};

/// Codes of one byte or of two consecutive bytes, by number of bits.
template <std::size_t kMax>
struct CodesByLength {
  struct BytesCode {
    std::uint16_t code, bytes;
  };
  std::array<std::uint16_t, kMaxBits + 2> first{};
  std::array<BytesCode, kMax> pieces;

  std::span<const BytesCode> with_bits(unsigned bits) const noexcept {
    return {pieces.data() + first[bits], pieces.data() + first[bits + 1]};
  }
};

/// Adds entries for two and three bytes whose codes have `bits` bits in total.
struct EntryJoiner {
  explicit EntryJoiner(const SortedCodes& codes) noexcept {
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
      for (const auto first_byte : singles.with_bits(length)) {
        for (const auto second_byte : singles.with_bits(bits - length)) {
          const auto code = static_cast<std::uint16_t>(first_byte.code | second_byte.code << length);
          const auto bytes = static_cast<std::uint16_t>(first_byte.bytes | second_byte.bytes << 8);
          pairs.pieces[count++] = {code, bytes};
          entries[code] = Entry::from_bytes(bits, 2, bytes);
        }
        for (const auto pair : pairs.with_bits(bits - length)) {
          entries[static_cast<std::size_t>(first_byte.code | pair.code << length)] =
              Entry::from_bytes(bits, 3, first_byte.bytes | std::uint32_t{pair.bytes} << 8);
        }
      }
    }
    pairs.first[bits + 1] = count;
  }

  CodesByLength<256> singles;
  // Pairs of prefix codes are a prefix code, so there are at most as many as entries.
  CodesByLength<LengthTable::kMask + 1> pairs;
};

/// Fills a table. `entry_of(symbol, bits)` returns the entry of a symbol; `join(bits)` adds joined entries of
/// `bits` bits.
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
  std::uint64_t last_prefix = ~std::uint64_t{0};
  for (unsigned bits = kBits + 1; bits <= kMaxBits; ++bits) {
    for (std::size_t i = codes.first[bits]; i < codes.first[bits + 1]; ++i) {
      if ((codes.codes[i] & Table::kMask) != last_prefix) {
        last_prefix = codes.codes[i] & Table::kMask;
        subtable = end;
        end += Table::kSubtableMask + 1;
        entries[last_prefix] = Entry(Kind::subtable, kBits, 0, static_cast<unsigned>(subtable));
      }
      const Entry entry = entry_of(codes.symbols[i], bits - kBits);
      for (std::size_t at = codes.codes[i] >> kBits; at <= Table::kSubtableMask; at += 1u << (bits - kBits))
        entries[subtable + at] = entry;
    }
  }
}

/// Base values and extra bits: lengths start at 3, in groups of four; distances at 1, in groups of two (RFC
/// 1951, 3.2.5).
Entry value_entry(std::size_t symbol, unsigned group_bits, unsigned base, unsigned bits) noexcept {
  const auto group = static_cast<unsigned>(symbol >> group_bits);
  const unsigned extra = group > 1 ? group - 1 : 0;
  const auto within = static_cast<unsigned>(symbol & ((1u << group_bits) - 1));
  const unsigned first = group == 0 ? within : ((1u << group_bits) + within) << extra;
  return {Kind::value, bits, extra, first + base};
}

Entry length_entry(std::size_t symbol, unsigned bits) noexcept {
  if (symbol < kEndOfBlock) return Entry::from_bytes(bits, 1, static_cast<std::uint32_t>(symbol));
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
  EntryJoiner joiner(codes);
  fill(codes, table, length_entry, [&](unsigned length) { joiner.join(length, table.entries); });
  return true;
}

bool make_table(std::span<const std::uint8_t> bits, DistanceTable& table) noexcept {
  const SortedCodes codes(bits);
  if (!codes.complete && !codes.single && !codes.empty) return false;
  fill(codes, table, distance_entry, [](unsigned) {});
  return true;
}

bool make_table(std::span<const std::uint8_t> bits, CodeLengthTable& table) noexcept {
  const SortedCodes codes(bits);
  if (!codes.complete) return false;
  fill(codes, table, length_entry, [](unsigned) {});
  return true;
}

}  // namespace sepconv::deflate
