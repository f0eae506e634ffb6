// Decoding tables of a zstd frame (RFC 8878, 4), and their construction from the frame.
#pragma once

#include "core/host_device.hpp"
#include "kernels/zstd/bits.hpp"

namespace sepconv::zstd {

/// A state of an FSE table: its symbol, and how to find the next state.
struct State {
  std::uint16_t next;
  std::uint8_t symbol, bits;
};

/// Tables in fast memory: the shared memory of a warp.
struct Tables {
  State states[3][512];
  std::uint16_t literals[1 << kMaxLiteralLog];  ///< length of the code, and above it the literal
  State weight_states[1 << kMaxWeightLog];
  std::int16_t counts[64];
  std::uint16_t next[64];
  std::uint8_t weights[kMaxWeights + 1];
  unsigned result, log;  ///< results of one lane for the others
  std::uint32_t header_bytes;
};

/// Reads the counts of an FSE table of 2^log states (4.1.1). Returns the number of symbols, 0 if invalid, and
/// sets `bytes` to the size of the description. Called by one lane.
SEPCONV_HOST_DEVICE inline unsigned read_fse_counts(const std::uint8_t* from, std::uint32_t& bytes,
                                                    unsigned max_symbol, unsigned max_log,
                                                    std::int16_t* counts, unsigned& log) {
  ForwardBits bits(from, bytes);
  log = bits.read(4) + 5;
  if (log > max_log) return 0;
  int left = 1 << log;
  unsigned symbol = 0;
  while (left > 0) {
    if (symbol > max_symbol) return 0;
    const unsigned width = highest_bit(static_cast<std::uint32_t>(left) + 1) + 1;
    const std::uint32_t lower = (1U << (width - 1)) - 1;
    const std::uint32_t threshold = (1U << width) - 2 - static_cast<std::uint32_t>(left);
    std::uint32_t value = bits.peek(width);
    if ((value & lower) < threshold) {
      value &= lower;
      bits.skip(width - 1);
    } else {
      if (value > lower) value -= threshold;
      bits.skip(width);
    }
    const int count = static_cast<int>(value) - 1;
    left -= count < 0 ? 1 : count;
    counts[symbol++] = static_cast<std::int16_t>(count);
    for (std::uint32_t zeros = count == 0 ? 3 : 0; zeros == 3;) {
      zeros = bits.read(2);
      if (symbol + zeros > max_symbol + 1) return 0;
      for (std::uint32_t i = 0; i < zeros; ++i) counts[symbol++] = 0;
    }
  }
  if (left != 0 || bits.used() > bytes) return 0;
  bytes = bits.used();
  return symbol;
}

/// Builds the states from the counts (4.1.1). Returns false if the counts do not fill the table. Called by
/// one lane.
SEPCONV_HOST_DEVICE inline bool build_states(Tables& tables, unsigned symbols, unsigned log, State* states) {
  for (unsigned symbol = 0; symbol < symbols; ++symbol)
    tables.next[symbol] = static_cast<std::uint16_t>(tables.counts[symbol] < 0 ? 1 : tables.counts[symbol]);
  const auto counts = [&](unsigned symbol) { return static_cast<int>(tables.counts[symbol]); };
  const bool fills = spread_states(counts, symbols, log, [&](unsigned index, unsigned symbol) {
    states[index].symbol = static_cast<std::uint8_t>(symbol);
  });
  if (!fills) return false;
  const unsigned size = 1U << log;
  for (unsigned i = 0; i < size; ++i) {
    const std::uint32_t next = tables.next[states[i].symbol]++;
    const unsigned bits = log - highest_bit(next);
    states[i].bits = static_cast<std::uint8_t>(bits);
    states[i].next = static_cast<std::uint16_t>((next << bits) - size);
  }
  return true;
}

/// Reads weights with two alternating states, up to the end of the bits (4.2.1.2). Returns their number, 0 if
/// invalid.
SEPCONV_HOST_DEVICE inline unsigned read_weights(Tables& tables, const std::uint8_t* from,
                                                 std::uint32_t bytes) {
  std::uint32_t header_bytes = bytes;
  unsigned log = 0;
  const unsigned symbols =
      read_fse_counts(from, header_bytes, kMaxLiteralLog, kMaxWeightLog, tables.counts, log);
  if (symbols == 0 || !build_states(tables, symbols, log, tables.weight_states)) return 0;
  BackwardBits bits(from + header_bytes, bytes - header_bytes);
  std::uint32_t states[2] = {static_cast<std::uint32_t>(bits.read(log)),
                             static_cast<std::uint32_t>(bits.read(log))};
  if (bits.left() < 0) return 0;
  for (unsigned count = 0; count < kMaxWeights;) {
    std::uint32_t& state = states[count % 2];
    const State now = tables.weight_states[state];
    tables.weights[count++] = now.symbol;
    state = now.next + static_cast<std::uint32_t>(bits.read(now.bits));
    if (bits.left() >= 0) continue;
    if (count == kMaxWeights) return 0;
    tables.weights[count] = tables.weight_states[states[count % 2]].symbol;
    return count + 1;
  }
  return 0;
}

/// Builds the table of the literals' code (4.2.1). Returns the length of its index in bits, 0 if invalid, and
/// sets `bytes` to the size of the description. Called by one lane.
SEPCONV_HOST_DEVICE inline unsigned build_literal_table(Tables& tables, const std::uint8_t* from,
                                                        std::uint32_t& bytes) {
  if (bytes == 0) return 0;
  const unsigned head = from[0];
  const bool direct = head >= 128;
  const std::uint32_t header_bytes = direct ? (head - 126) / 2 : head;
  if (header_bytes + 1 > bytes) return 0;
  bytes = header_bytes + 1;
  unsigned symbols = direct ? head - 127 : read_weights(tables, from + 1, header_bytes);
  for (unsigned i = 0; direct && i < symbols; ++i)
    tables.weights[i] = from[1 + i / 2] >> (i % 2 == 0 ? 4 : 0) & 15;
  std::uint32_t sum = 0;
  for (unsigned i = 0; i < symbols; ++i) {
    if (tables.weights[i] > kMaxLiteralLog) return 0;
    sum += tables.weights[i] == 0 ? 0 : 1U << (tables.weights[i] - 1);
  }
  if (sum == 0) return 0;
  const unsigned log = highest_bit(sum) + 1;
  const std::uint32_t rest = (1U << log) - sum;
  if (log > kMaxLiteralLog || (rest & (rest - 1)) != 0) return 0;
  tables.weights[symbols++] = static_cast<std::uint8_t>(highest_bit(rest) + 1);
  unsigned index = 0;
  for (unsigned weight = 1; weight <= log; ++weight) {
    for (unsigned symbol = 0; symbol < symbols; ++symbol) {
      if (tables.weights[symbol] != weight) continue;
      const auto entry = static_cast<std::uint16_t>(symbol << 8 | (log + 1 - weight));
      for (unsigned i = 0; i < 1U << (weight - 1); ++i) tables.literals[index++] = entry;
    }
    if (weight == 1 && index == 0) return 0;  // the longest codes come in pairs
  }
  return log;
}

}  // namespace sepconv::zstd
