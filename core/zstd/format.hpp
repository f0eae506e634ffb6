// Constants and tables of the zstd format (RFC 8878), for encoders and decoders on the CPU and on a GPU.
#pragma once

#include <cstdint>

#include "core/deflate/matches.hpp"
#include "core/host_device.hpp"

namespace sepconv::zstd {

inline constexpr std::uint32_t kMagic = 0xFD2FB528;
inline constexpr unsigned kHasChecksum = 4;     // bit of the frame header descriptor
inline constexpr unsigned kMaxLiteralLog = 11;  // maximum length of a literal's code
inline constexpr unsigned kMaxWeightLog = 6, kMaxWeights = 255;
inline constexpr unsigned kMaxSymbols = 53;  // of an FSE table

/// Index of the highest set bit; `value` must not be 0.
SEPCONV_HOST_DEVICE inline unsigned highest_bit(std::uint32_t value) { return deflate::width_of(value) - 1; }

/// Limits of one kind of code: literal lengths, offsets or match lengths.
struct Kind {
  unsigned max_symbol, max_log, default_log;
};
inline constexpr unsigned kLiterals = 0, kDistances = 1, kLengths = 2;
SEPCONV_HOST_DEVICE inline Kind kind_of(unsigned kind) {
  constexpr Kind kKinds[] = {{35, 9, 6}, {31, 8, 5}, {52, 9, 6}};
  return kKinds[kind];
}
/// Number of symbols in the default distribution.
SEPCONV_HOST_DEVICE inline unsigned default_symbols(unsigned kind) {
  constexpr unsigned kDefault[] = {36, 29, 53};
  return kDefault[kind];
}
/// Counts of the default distributions, used without a table description ("Default Distributions").
SEPCONV_HOST_DEVICE inline int default_count(unsigned kind, unsigned symbol) {
  constexpr std::int8_t kDefault[3][kMaxSymbols] = {
      {4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1,  1,  2,  2,
       2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1},
      {1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1},
      {1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  1,  1,  1,  1,  1,  1, 1,
       1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1}};
  return kDefault[kind][symbol];
}

/// Calls set(position, symbol) for every position of an FSE table of 2^log states, in which each symbol has
/// `counts` states, one if that is -1 (4.1.1). Returns false if the counts do not fill the table.
template <class Counts, class Set>
SEPCONV_HOST_DEVICE inline bool spread_states(const Counts& counts, unsigned symbols, unsigned log,
                                              const Set& set) {
  const unsigned size = 1U << log, step = size / 2 + size / 8 + 3;
  unsigned high = size, position = 0;
  for (unsigned symbol = 0; symbol < symbols; ++symbol)
    if (counts(symbol) < 0) set(--high, symbol);
  for (unsigned symbol = 0; symbol < symbols; ++symbol) {
    for (int i = 0; i < counts(symbol); ++i) {
      set(position, symbol);
      do {
        position = (position + step) % size;
      } while (position >= high);
    }
  }
  return position == 0;
}

/// Meaning of a length code: `base` plus the value of `bits` extra bits.
struct Extra {
  std::uint32_t base, bits;
};

/// Literal length codes.
SEPCONV_HOST_DEVICE inline Extra literals_of(unsigned code) {
  constexpr std::uint32_t kBase[] = {16,  18,  20,  22,   24,   28,   32,   40,    48,    64,
                                     128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536};
  constexpr std::uint8_t kBits[] = {1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  return code < 16 ? Extra{code, 0} : Extra{kBase[code - 16], kBits[code - 16]};
}
/// Match length codes.
SEPCONV_HOST_DEVICE inline Extra length_of(unsigned code) {
  constexpr std::uint32_t kBase[] = {35,  37,  39,  41,   43,   47,   51,   59,    67,    83,   99,
                                     131, 259, 515, 1027, 2051, 4099, 8195, 16387, 32771, 65539};
  constexpr std::uint8_t kBits[] = {1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  return code < 32 ? Extra{code + 3, 0} : Extra{kBase[code - 32], kBits[code - 32]};
}

}  // namespace sepconv::zstd
