// What a stream of deflate's codes are looked up in while it is decoded, and how that is made. The same
// source for a warp and for a thread of the host.
#pragma once

#include <cstdint>

#include "kernels/codec/thread_group.hpp"
#include "kernels/deflate/stream_bits.hpp"

namespace sepconv::deflate {

inline constexpr int kLiteralBits = 11;  // of the stream that are looked up at once
inline constexpr int kDistanceBits = 8;
inline constexpr int kLengthBits = 7;
// The last bytes of the result, from which nearly all repeats are copied. Deflate goes back by up to 32768:
// what lies further back than the window surely holds is copied from the result itself.
inline constexpr unsigned kWindow = 16384;

/// A canonical prefix code: how many codes have each length, and the symbols in the order of their codes.
template <int kSymbols>
struct PrefixCode {
  std::uint16_t counts[kMaxBits + 1];
  std::uint16_t next[kMaxBits + 1];
  std::uint16_t symbols[kSymbols];
};

/// What an entry of no literals is.
enum SymbolKind : unsigned { kLongCode = 0, kEnd = 1, kLength = 2 };
inline constexpr std::uint32_t kIsLiteral = 3 << 4;

/// In memory that is near: of a warp in its shared memory.
struct StreamTables {
  alignas(16) std::uint8_t window[kWindow];  // byte i of the result is window[i % kWindow]
  std::uint32_t ring[kRingWords + 4];        // see StreamBits
  // For kLiteralBits of the stream: in bits 0 to 3 how many of them are used, in 4 and 5 how many literals
  // they are, from bit 8 on the literals. None: bits 6 and 7 are a SymbolKind; of a length bits 8 to 10 are
  // its extra bits, and its base is above.
  std::uint32_t literals[1 << kLiteralBits];
  // Bits 0 to 3: bits of the code, 0 for a longer one or none; 4 to 7: extra bits; above: base. While the
  // lengths of codes are read: bits of their code, and above the symbol.
  std::uint32_t distances[1 << kDistanceBits];
  int symbol_offset[kLiteralBits + 1];  // by its length: what to add to a code for its place among all
  PrefixCode<288> literal_code;
  PrefixCode<32> distance_code;
  std::uint8_t lengths[320];  // of the codes, as a block tells them
};

/// Counts and sorts the symbols by the lengths of their codes; false: there are more codes than bits for
/// them.
template <class ThreadGroup, int kSymbols>
SEPCONV_HOST_DEVICE bool sort_symbols(PrefixCode<kSymbols>& code, const std::uint8_t* lengths,
                                      unsigned symbols, const ThreadGroup& group) {
  for (unsigned bits = group.lane(); bits <= kMaxBits; bits += ThreadGroup::kLanes) code.counts[bits] = 0;
  group.sync();
  SEPCONV_ROLLED
  for (unsigned first = 0; first < symbols; first += ThreadGroup::kLanes) {
    const unsigned symbol = first + group.lane();
    const unsigned length = symbol < symbols ? lengths[symbol] : 0;
    const MatchingLanes matching_lanes = group.matching_lanes(length);
    if (length != 0 && matching_lanes.before == 0)
      code.counts[length] = static_cast<std::uint16_t>(code.counts[length] + matching_lanes.count);
    group.sync();
  }
  unsigned next = 0;
  int free_codes = 1;
  SEPCONV_ROLLED
  for (int bits = 1; bits <= kMaxBits; ++bits) {
    if (group.lane() == 0) code.next[bits] = static_cast<std::uint16_t>(next);
    const unsigned count = code.counts[bits];
    next += count;
    free_codes = 2 * free_codes - static_cast<int>(count);
    if (free_codes < 0) return false;
  }
  group.sync();
  SEPCONV_ROLLED
  for (unsigned first = 0; first < symbols; first += ThreadGroup::kLanes) {
    const unsigned symbol = first + group.lane();
    const unsigned length = symbol < symbols ? lengths[symbol] : 0;
    const MatchingLanes matching_lanes = group.matching_lanes(length);
    const unsigned position = length != 0 ? code.next[length] + matching_lanes.before : 0;
    group.sync();
    if (length != 0) {
      code.symbols[position] = static_cast<std::uint16_t>(symbol);
      if (matching_lanes.before == 0)
        code.next[length] = static_cast<std::uint16_t>(position + matching_lanes.count);
    }
    group.sync();
  }
  return true;
}

template <int kSymbols>
SEPCONV_HOST_DEVICE bool is_complete(const PrefixCode<kSymbols>& code) {
  int free_codes = 1;
  SEPCONV_ROLLED
  for (int bits = 1; bits <= kMaxBits; ++bits) free_codes = 2 * free_codes - code.counts[bits];
  return free_codes == 0;
}

/// No distance at all, or one of one bit, as a block without repeats or with one distance has them.
SEPCONV_HOST_DEVICE inline bool has_at_most_one_code(const PrefixCode<32>& code) {
  int used = 0;
  SEPCONV_ROLLED
  for (int bits = 1; bits <= kMaxBits; ++bits) used += code.counts[bits];
  return used == 0 || (used == 1 && code.counts[1] == 1);
}

/// The symbol whose code `stream` begins with, and below it, in 4 bits, the bits of that; 0 where there is
/// none.
template <int kSymbols>
SEPCONV_HOST_DEVICE __attribute__((noinline)) unsigned symbol_of(const PrefixCode<kSymbols>& code,
                                                                 unsigned stream) {
  int value = 0, first = 0, index = 0;
  SEPCONV_ROLLED
  for (int bits = 1; bits <= kMaxBits; ++bits) {
    value |= static_cast<int>(stream & 1);
    stream >>= 1;
    const int count = code.counts[bits];
    if (value - count < first)
      return unsigned{code.symbols[index + value - first]} << 4 | static_cast<unsigned>(bits);
    index += count;
    first = (first + count) << 1;
    value <<= 1;
  }
  return 0;
}

/// The order in which lengths of code lengths are told: 16 17 18 0 8 7 9 6 10 5 11 4 12 3 13 2 14 1 15.
SEPCONV_HOST_DEVICE inline unsigned code_length_order(unsigned i) {
  if (i < 3) return 16 + i;
  const unsigned k = i - 3;
  return k == 0 ? 0 : k % 2 == 1 ? 8 + k / 2 : 8 - k / 2;
}

SEPCONV_HOST_DEVICE inline std::uint32_t length_entry(unsigned symbol, unsigned bits) {
  const unsigned k = symbol - 257;
  const unsigned extra = k < 8 || k == 28 ? 0 : (k >> 2) - 1;
  const unsigned base = k < 8 ? k + 3 : k == 28 ? 258 : ((4 + (k & 3)) << extra) + 3;
  return bits | kLength << 6 | extra << 8 | base << 11;
}

SEPCONV_HOST_DEVICE inline std::uint32_t distance_entry(unsigned symbol, unsigned bits) {
  const unsigned extra = symbol < 4 ? 0 : (symbol >> 1) - 1;
  const unsigned base = symbol < 4 ? symbol + 1 : ((2 + (symbol & 1)) << extra) + 1;
  return bits | extra << 4 | base << 8;
}

/// The entry of up to three symbols that follow each other, each with the bits of its code, 0 for a long one.
SEPCONV_HOST_DEVICE inline std::uint32_t literal_entry(const std::uint32_t (&symbols)[3]) {
  const unsigned first = symbols[0] >> 4, bits = symbols[0] & 15;
  if (bits == 0 || first > 285) return kLongCode << 6;
  if (first == 256) return bits | kEnd << 6;
  if (first > 256) return length_entry(first, bits);
  std::uint32_t entry = first << 8;
  unsigned count = 1, total_bits = bits;
  SEPCONV_UNROLLED
  for (int k = 1; k < 3; ++k) {
    const unsigned next = symbols[k] >> 4, next_bits = symbols[k] & 15;
    if (next_bits == 0 || next >= 256 || total_bits + next_bits > kLiteralBits) break;
    entry |= next << (8 + 8 * k);
    total_bits += next_bits;
    ++count;
  }
  return entry | total_bits | count << 4;
}

/// The first symbol of every kLiteralBits of the stream, and the bits of its code below, 0 for longer ones.
template <class ThreadGroup>
SEPCONV_HOST_DEVICE void fill_first_symbols(StreamTables& tables, const ThreadGroup& group) {
  const PrefixCode<288>& code = tables.literal_code;
  // Where the codes of one length and all shorter ones end, as numbers of kLiteralBits: canonical codes
  // ascend.
  unsigned ends[kLiteralBits], first = 0, index = 0;
  SEPCONV_UNROLLED
  for (int bits = 1; bits <= kLiteralBits; ++bits) {
    const unsigned count = code.counts[bits];
    if (group.lane() == 0) tables.symbol_offset[bits] = static_cast<int>(index) - static_cast<int>(first);
    ends[bits - 1] = (first + count) << (kLiteralBits - bits);
    index += count;
    first = (first + count) << 1;
  }
  group.sync();
  SEPCONV_ROLLED
  for (unsigned i = group.lane(); i < 1U << kLiteralBits; i += ThreadGroup::kLanes) {
    const unsigned value = reversed(i) >> (32 - kLiteralBits);
    int bits = 1;
    SEPCONV_UNROLLED
    for (int k = 0; k < kLiteralBits; ++k) bits += value >= ends[k] ? 1 : 0;
    const bool exists = bits <= kLiteralBits;
    const int position =
        exists ? tables.symbol_offset[bits] + static_cast<int>(value >> (kLiteralBits - bits)) : 0;
    tables.literals[i] =
        exists ? std::uint32_t{code.symbols[position]} << 4 | static_cast<unsigned>(bits) : 0;
  }
  group.sync();
}

/// From the table of first symbols, in place: what follows one lies at a smaller index, so the largest come
/// first.
template <class ThreadGroup>
SEPCONV_HOST_DEVICE void combine_symbols(StreamTables& tables, const ThreadGroup& group) {
  constexpr int kLanes = ThreadGroup::kLanes;
  SEPCONV_ROLLED
  for (int base = (1 << kLiteralBits) - kLanes; base >= 0; base -= kLanes) {
    unsigned rest = static_cast<unsigned>(base) + group.lane();
    std::uint32_t symbols[3];
    SEPCONV_UNROLLED
    for (std::uint32_t& symbol : symbols) {
      symbol = tables.literals[rest];
      rest >>= symbol & 15;
    }
    group.sync();
    tables.literals[static_cast<unsigned>(base) + group.lane()] = literal_entry(symbols);
    group.sync();
  }
}

/// For the code of the lengths of codes, whose own lengths are told.
template <class ThreadGroup>
SEPCONV_HOST_DEVICE __attribute__((noinline)) bool build_code_length_table(StreamTables& tables,
                                                                           const ThreadGroup& group) {
  group.sync();
  PrefixCode<32>& code = tables.distance_code;
  if (!sort_symbols(code, tables.lengths, 19, group) || !is_complete(code)) return false;
  SEPCONV_ROLLED
  for (unsigned i = group.lane(); i < 1U << kLengthBits; i += ThreadGroup::kLanes)
    tables.distances[i] = symbol_of(code, i);
  group.sync();
  return true;
}

/// For a block whose codes' lengths are told; false where the codes are none that encoders make.
template <class ThreadGroup>
SEPCONV_HOST_DEVICE __attribute__((noinline)) bool build_tables(StreamTables& tables, unsigned lengths,
                                                                unsigned distances,
                                                                const ThreadGroup& group) {
  group.sync();
  if (!sort_symbols(tables.literal_code, tables.lengths, lengths, group) || !is_complete(tables.literal_code))
    return false;
  PrefixCode<32>& code = tables.distance_code;
  if (!sort_symbols(code, tables.lengths + lengths, distances, group)) return false;
  if (!is_complete(code) && !has_at_most_one_code(code)) return false;
  fill_first_symbols(tables, group);
  combine_symbols(tables, group);
  SEPCONV_ROLLED
  for (unsigned i = group.lane(); i < 1U << kDistanceBits; i += ThreadGroup::kLanes) {
    const unsigned entry = symbol_of(code, i), bits = entry & 15;
    const bool exists = entry != 0 && bits <= kDistanceBits && entry >> 4 <= 29;
    tables.distances[i] = exists ? distance_entry(entry >> 4, bits) : 0;
  }
  group.sync();
  return true;
}

}  // namespace sepconv::deflate
