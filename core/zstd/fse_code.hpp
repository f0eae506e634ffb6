// FSE encoding (RFC 8878, 4.1): from the last symbol to the first, with whose state a decoder begins. The
// same source for the CPU and the GPU encoder, which produce the same bytes.
#pragma once

#include <cstdint>

#include "core/host_device.hpp"
#include "core/zstd/format.hpp"

namespace sepconv::zstd {

/// An FSE code of at most 64 states.
struct FseCode {
  std::uint8_t states[64];  ///< states by symbol, in ascending order
  std::uint8_t first[kMaxSymbols],
      counts[kMaxSymbols];  ///< a symbol's first index in `states`, and its number of states
  std::uint8_t log;

  /// counts_of(symbol): number of a symbol's states among the 2^log states; -1: one state at the end of the
  /// table.
  template <class Counts>
  SEPCONV_HOST_DEVICE void make(const Counts& counts_of, unsigned symbols, unsigned log_of_states) {
    std::uint8_t symbol_of[64] = {}, next[kMaxSymbols] = {};
    log = static_cast<std::uint8_t>(log_of_states);
    unsigned before = 0;
    for (unsigned symbol = 0; symbol < symbols; ++symbol) {
      const int count = counts_of(symbol);
      first[symbol] = next[symbol] = static_cast<std::uint8_t>(before);
      counts[symbol] = static_cast<std::uint8_t>(count < 0 ? 1 : count);
      before += counts[symbol];
    }
    spread_states(counts_of, symbols, log, [&](unsigned position, unsigned symbol) {
      symbol_of[position] = static_cast<std::uint8_t>(symbol);
    });
    for (unsigned state = 0; state < 1U << log; ++state)
      states[next[symbol_of[state]]++] = static_cast<std::uint8_t>(state);
  }
  SEPCONV_HOST_DEVICE void make_default(unsigned kind) {
    make([&](unsigned symbol) { return default_count(kind, symbol); }, default_symbols(kind),
         kind_of(kind).default_log);
  }

  /// The state of the last symbol, which the encoder begins with.
  SEPCONV_HOST_DEVICE unsigned last(unsigned symbol) const { return states[first[symbol]]; }

  /// The state of `symbol`, which precedes the symbol of `state`. Writes the bits with which a decoder gets
  /// from the returned state to `state`.
  template <class Sink>
  SEPCONV_HOST_DEVICE unsigned before(unsigned state, unsigned symbol, Sink& sink) const {
    const unsigned count = counts[symbol], position = state + (1U << log);
    // Shifted right by `bits`, `position` is between `count` and 2 * count - 1.
    unsigned bits = log - highest_bit(count);
    if (position >> bits < count) --bits;
    sink.put(position & ((1U << bits) - 1), bits);
    return states[first[symbol] + (position >> bits) - count];
  }
};

/// Writes the counts of symbols that fill 2^log states (4.1.1); none of them may be -1.
template <class Sink>
SEPCONV_HOST_DEVICE void write_fse_table(const FseCode& code, unsigned symbols, Sink& sink) {
  sink.put(code.log - 5U, 4);
  int left = 1 << code.log;
  for (unsigned symbol = 0; symbol < symbols && left > 0;) {
    const unsigned count = code.counts[symbol++];
    // Values are 0 to left + 1; the smaller ones take one bit less.
    const unsigned width = highest_bit(static_cast<std::uint32_t>(left) + 1) + 1;
    const unsigned lower = 1U << (width - 1), short_values = (1U << width) - 2 - static_cast<unsigned>(left);
    const unsigned value = count + 1;
    if (value < short_values) {
      sink.put(value, width - 1);
    } else {
      sink.put(value < lower ? value : value + short_values, width);
    }
    left -= static_cast<int>(count);
    if (count > 0) continue;
    unsigned zeros = 0;
    while (code.counts[symbol + zeros] == 0) ++zeros;
    symbol += zeros;
    for (; zeros >= 3; zeros -= 3) sink.put(3, 2);
    sink.put(zeros, 2);
  }
}

}  // namespace sepconv::zstd
