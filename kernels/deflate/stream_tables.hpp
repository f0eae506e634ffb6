// Lookup tables for decoding deflate, and their construction. The same source for a warp and for a host
// thread.
#pragma once

#include <cstdint>

#include "core/host_device.hpp"
#include "kernels/codec/thread_group.hpp"
#include "kernels/deflate/stream_bits.hpp"

namespace sepconv::deflate {

inline constexpr int kLiteralBits = 11;  // bits of the stream per table lookup
inline constexpr int kDistanceBits = 8;
inline constexpr int kLengthBits = 7;
// The window has the last bytes of the result, the source of nearly all matches. Deflate distances reach
// 32768: farther matches are copied from the result itself.
inline constexpr unsigned kWindow = 16384;

/// A canonical prefix code: the number of codes of each length, and the symbols in the order of their codes.
template <int kSymbols>
struct PrefixCode {
  std::uint16_t counts[kMaxBits + 1];
  std::uint16_t next[kMaxBits + 1];
  std::uint16_t symbols[kSymbols];
};

/// Kind of an entry without literals.
enum SymbolKind : unsigned { kLongCode = 0, kEnd = 1, kLength = 2 };
inline constexpr std::uint32_t kIsLiteral = 3 << 4;

/// Tables in fast memory: the shared memory of a warp.
struct StreamTables {
  alignas(16) std::uint8_t window[kWindow];  // byte i of the result is window[i % kWindow]
  std::uint32_t ring[kRingWords + 4];        // see StreamBits
  // Indexed by kLiteralBits of the stream. Bits 0 to 3: number of bits used; 4 and 5: number of literals;
  // from bit 8 on: the literals. Without literals, bits 6 and 7 are a SymbolKind; for a length, bits 8 to 10
  // are the number of extra bits and the base is above.
  std::uint32_t literals[1 << kLiteralBits];
  // Bits 0 to 3: length of the code, 0 for a longer or invalid one; 4 to 7: number of extra bits; above:
  // base. While code lengths are read: length of the code, and above it the symbol.
  std::uint32_t distances[1 << kDistanceBits];
  int symbol_offset[kLiteralBits + 1];  // by code length: offset from a code to its index in `symbols`
  PrefixCode<288> literal_code;
  PrefixCode<32> distance_code;
  std::uint8_t lengths[320];  // code lengths as read from a block
};

/// Counts and sorts the symbols by the lengths of their codes. Returns false if the code is oversubscribed.
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

/// No code, or one code of one bit: a block without matches or with one distance.
SEPCONV_HOST_DEVICE inline bool has_at_most_one_code(const PrefixCode<32>& code) {
  int used = 0;
  SEPCONV_ROLLED
  for (int bits = 1; bits <= kMaxBits; ++bits) used += code.counts[bits];
  return used == 0 || (used == 1 && code.counts[1] == 1);
}

/// The symbol whose code `stream` begins with, and in the lowest 4 bits the code's length; 0 if there is no
/// such code.
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

/// The order of the code length code lengths (RFC 1951, 3.2.7): 16 17 18 0 8 7 9 6 10 5 11 4 12 3 13 2 14 1
/// 15.
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

/// The entry of up to three consecutive symbols, each with the length of its code (0 for a long one).
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

/// For every value of kLiteralBits bits: the first symbol, and below it the length of its code (0 for a
/// longer one).
template <class ThreadGroup>
SEPCONV_HOST_DEVICE void fill_first_symbols(StreamTables& tables, const ThreadGroup& group) {
  const PrefixCode<288>& code = tables.literal_code;
  // Ends of the codes of up to each length, as numbers of kLiteralBits bits: canonical codes are in ascending
  // order.
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

/// Combines consecutive symbols, in place: the remaining bits are a smaller index, so the table is processed
/// from its end.
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

/// Builds the table of the code length code from its lengths.
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

/// Builds the tables of a block from its code lengths. Returns false for codes that encoders do not produce.
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
