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
  int place_of_code[kLiteralBits + 1];  // by its length: what to add to a code for its place among all
  PrefixCode<288> literal_code;
  PrefixCode<32> distance_code;
  std::uint8_t lengths[320];  // of the codes, as a block tells them
};

/// Counts and sorts the symbols by the lengths of their codes; false: there are more codes than bits for
/// them.
template <class Team, int kSymbols>
SEPCONV_HOST_DEVICE bool sort_symbols(PrefixCode<kSymbols>& code, const std::uint8_t* lengths,
                                      unsigned symbols, const Team& team) {
  for (unsigned bits = team.lane(); bits <= kMaxBits; bits += Team::kLanes) code.counts[bits] = 0;
  team.sync();
  SEPCONV_ROLLED
  for (unsigned first = 0; first < symbols; first += Team::kLanes) {
    const unsigned symbol = first + team.lane();
    const unsigned length = symbol < symbols ? lengths[symbol] : 0;
    const Alike alike = team.alike(length);
    if (length != 0 && alike.before == 0)
      code.counts[length] = static_cast<std::uint16_t>(code.counts[length] + alike.count);
    team.sync();
  }
  unsigned next = 0;
  int open = 1;
  SEPCONV_ROLLED
  for (int bits = 1; bits <= kMaxBits; ++bits) {
    if (team.lane() == 0) code.next[bits] = static_cast<std::uint16_t>(next);
    const unsigned count = code.counts[bits];
    next += count;
    open = 2 * open - static_cast<int>(count);
    if (open < 0) return false;
  }
  team.sync();
  SEPCONV_ROLLED
  for (unsigned first = 0; first < symbols; first += Team::kLanes) {
    const unsigned symbol = first + team.lane();
    const unsigned length = symbol < symbols ? lengths[symbol] : 0;
    const Alike alike = team.alike(length);
    const unsigned place = length != 0 ? code.next[length] + alike.before : 0;
    team.sync();
    if (length != 0) {
      code.symbols[place] = static_cast<std::uint16_t>(symbol);
      if (alike.before == 0) code.next[length] = static_cast<std::uint16_t>(place + alike.count);
    }
    team.sync();
  }
  return true;
}

template <int kSymbols>
SEPCONV_HOST_DEVICE bool is_complete(const PrefixCode<kSymbols>& code) {
  int open = 1;
  SEPCONV_ROLLED
  for (int bits = 1; bits <= kMaxBits; ++bits) open = 2 * open - code.counts[bits];
  return open == 0;
}

/// No distance at all, or one of one bit, as a block without repeats or with one distance has them.
SEPCONV_HOST_DEVICE inline bool has_few(const PrefixCode<32>& code) {
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
SEPCONV_HOST_DEVICE inline unsigned order_of(unsigned i) {
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
  unsigned count = 1, all = bits;
  SEPCONV_UNROLLED
  for (int k = 1; k < 3; ++k) {
    const unsigned next = symbols[k] >> 4, more = symbols[k] & 15;
    if (more == 0 || next >= 256 || all + more > kLiteralBits) break;
    entry |= next << (8 + 8 * k);
    all += more;
    ++count;
  }
  return entry | all | count << 4;
}

/// The first symbol of every kLiteralBits of the stream, and the bits of its code below, 0 for longer ones.
template <class Team>
SEPCONV_HOST_DEVICE void make_first_symbols(StreamTables& tables, const Team& team) {
  const PrefixCode<288>& code = tables.literal_code;
  // Where the codes of one length and all shorter ones end, as numbers of kLiteralBits: canonical codes
  // ascend.
  unsigned ends[kLiteralBits], first = 0, index = 0;
  SEPCONV_UNROLLED
  for (int bits = 1; bits <= kLiteralBits; ++bits) {
    const unsigned count = code.counts[bits];
    if (team.lane() == 0) tables.place_of_code[bits] = static_cast<int>(index) - static_cast<int>(first);
    ends[bits - 1] = (first + count) << (kLiteralBits - bits);
    index += count;
    first = (first + count) << 1;
  }
  team.sync();
  SEPCONV_ROLLED
  for (unsigned i = team.lane(); i < 1U << kLiteralBits; i += Team::kLanes) {
    const unsigned value = reversed(i) >> (32 - kLiteralBits);
    int bits = 1;
    SEPCONV_UNROLLED
    for (int k = 0; k < kLiteralBits; ++k) bits += value >= ends[k] ? 1 : 0;
    const bool is_there = bits <= kLiteralBits;
    const int place =
        is_there ? tables.place_of_code[bits] + static_cast<int>(value >> (kLiteralBits - bits)) : 0;
    tables.literals[i] = is_there ? std::uint32_t{code.symbols[place]} << 4 | static_cast<unsigned>(bits) : 0;
  }
  team.sync();
}

/// From the table of first symbols, in place: what follows one lies at a smaller index, so the largest come
/// first.
template <class Team>
SEPCONV_HOST_DEVICE void join_symbols(StreamTables& tables, const Team& team) {
  constexpr int kLanes = Team::kLanes;
  SEPCONV_ROLLED
  for (int base = (1 << kLiteralBits) - kLanes; base >= 0; base -= kLanes) {
    unsigned rest = static_cast<unsigned>(base) + team.lane();
    std::uint32_t symbols[3];
    SEPCONV_UNROLLED
    for (std::uint32_t& symbol : symbols) {
      symbol = tables.literals[rest];
      rest >>= symbol & 15;
    }
    team.sync();
    tables.literals[static_cast<unsigned>(base) + team.lane()] = literal_entry(symbols);
    team.sync();
  }
}

/// For the code of the lengths of codes, whose own lengths are told.
template <class Team>
SEPCONV_HOST_DEVICE __attribute__((noinline)) bool make_length_table(StreamTables& tables, const Team& team) {
  team.sync();
  PrefixCode<32>& code = tables.distance_code;
  if (!sort_symbols(code, tables.lengths, 19, team) || !is_complete(code)) return false;
  SEPCONV_ROLLED
  for (unsigned i = team.lane(); i < 1U << kLengthBits; i += Team::kLanes)
    tables.distances[i] = symbol_of(code, i);
  team.sync();
  return true;
}

/// For a block whose codes' lengths are told; false where the codes are none that encoders make.
template <class Team>
SEPCONV_HOST_DEVICE __attribute__((noinline)) bool make_tables(StreamTables& tables, unsigned lengths,
                                                               unsigned distances, const Team& team) {
  team.sync();
  if (!sort_symbols(tables.literal_code, tables.lengths, lengths, team) || !is_complete(tables.literal_code))
    return false;
  PrefixCode<32>& code = tables.distance_code;
  if (!sort_symbols(code, tables.lengths + lengths, distances, team)) return false;
  if (!is_complete(code) && !has_few(code)) return false;
  make_first_symbols(tables, team);
  join_symbols(tables, team);
  SEPCONV_ROLLED
  for (unsigned i = team.lane(); i < 1U << kDistanceBits; i += Team::kLanes) {
    const unsigned found = symbol_of(code, i), bits = found & 15;
    const bool is_there = found != 0 && bits <= kDistanceBits && found >> 4 <= 29;
    tables.distances[i] = is_there ? distance_entry(found >> 4, bits) : 0;
  }
  team.sync();
  return true;
}

}  // namespace sepconv::deflate
