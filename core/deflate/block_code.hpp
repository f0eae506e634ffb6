// The Huffman codes of a deflate block (RFC 1951, 3.2.7), the encoding of their lengths, and the output of
// symbols. The same source for the CPU and the GPU encoder, which produce the same bytes.
#pragma once

#include <cstdint>

#include "core/deflate/matches.hpp"
#include "core/deflate/prefix_code.hpp"
#include "core/host_device.hpp"

namespace sepconv::deflate {

/// Header of a zlib stream, 16 bits: deflate, a window of 32 KiB, the fastest level.
inline constexpr std::uint64_t kZlibHeader = 0x0178;

/// Header of a gzip member (RFC 1952, 2.3), 80 bits: deflate, no name, no time; kGzipSystem is the last 16
/// bits: the fastest level, unknown system.
inline constexpr std::uint64_t kGzipHeader = 0x088B1F, kGzipSystem = 0xFF04;

/// Bytes of a stored block: a multiple of the vector size.
inline constexpr std::int64_t kBlockBytes = 65280;
/// With 13 bits four codes are written in one step, and decoders that look up 13 bits, such as ours, need no
/// second table; 14 bits would save 0.09 % over 45 images, 0.5 % at most.
inline constexpr int kMaxCodeBits = 13;
/// `kEndOfBlock` is the end-of-block symbol of the literal/length alphabet.
inline constexpr int kEndOfBlock = 256, kLengths = 286, kDistances = 30, kCodeLengthSymbols = 19;

/// Codes by symbol; their lengths are in the upper half.
struct CodeTable {
  std::uint32_t lengths[kLengths], distances[kDistances];
};

/// `sink` has put(value, number of bits).
template <class Sink>
SEPCONV_HOST_DEVICE void put_value(std::uint32_t code, const Value& value, Sink& sink) {
  const unsigned bits = code >> 16;
  sink.put((code & 0xFFFF) | std::uint64_t{value.extra} << bits, bits + value.extra_bits);
}
template <class Sink>
SEPCONV_HOST_DEVICE void put_match(const CodeTable& table, std::int64_t length, const Value& distance,
                                   Sink& sink) {
  for_each_part(length, [&](std::int64_t part) {
    const Value value = length_value(part);
    put_value(table.lengths[value.symbol], value, sink);
    put_value(table.distances[distance.symbol], distance, sink);
  });
}

/// A symbol of the code length alphabet, with its extra bits.
struct CodeLengthSymbol {
  std::uint8_t symbol, extra;
};
SEPCONV_HOST_DEVICE inline unsigned code_length_extra_bits(unsigned symbol) {
  return symbol < 16 ? 0 : symbol == 16 ? 2 : symbol == 17 ? 3 : 7;
}
/// The order in which the code length code lengths are stored.
SEPCONV_HOST_DEVICE inline int code_length_order(int i) {
  constexpr std::uint8_t kOrder[kCodeLengthSymbols] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                       11, 4,  12, 3, 13, 2, 14, 1, 15};
  return kOrder[i];
}

/// Run-length encodes code lengths. Returns the number of symbols written.
SEPCONV_HOST_DEVICE inline int run_length_encode(const std::uint8_t* lengths, int count,
                                                 CodeLengthSymbol* to) {
  int written = 0;
  const auto put_run = [&](std::uint8_t symbol, int max_run, int min_run, int& run) {
    const int part = run < max_run ? run : max_run;
    to[written++] = {symbol, static_cast<std::uint8_t>(part - min_run)};
    run -= part;
  };
  for (int i = 0; i < count;) {
    const std::uint8_t length = lengths[i];
    int run = 1;
    while (i + run < count && lengths[i + run] == length) ++run;
    i += run;
    if (length == 0) {
      while (run >= 11) put_run(18, 138, 11, run);
      if (run >= 3) put_run(17, 10, 3, run);
    } else {
      to[written++] = {length, 0};
      --run;
      while (run >= 3) put_run(16, 6, 3, run);
    }
    for (; run > 0; --run) to[written++] = {length, 0};
  }
  return written;
}

/// The codes of a block. Steps: fill the counts; complete(); choose_lengths() of both alphabets with
/// kMaxCodeBits; write_description(); choose_lengths() of code_length_counts with kMaxCodeLengthBits; assign().
struct BlockCode {
  static constexpr int kMaxCodeLengthBits = 7;

  // Must be zero initially.
  std::uint32_t length_counts[kLengths], distance_counts[kDistances], code_length_counts[kCodeLengthSymbols];
  std::uint8_t length_bits[kLengths], distance_bits[kDistances], told_bits[kCodeLengthSymbols];
  std::uint16_t code_length_codes[kCodeLengthSymbols];
  std::uint32_t placeholder_distances;  ///< bit i: distance i is counted but does not occur
  int lengths, distances, symbols_written, code_length_count;
  std::uint8_t bits[kLengths + kDistances];
  CodeLengthSymbol code_length_symbols[kLengths + kDistances];

  /// Adds the symbols that every block has.
  SEPCONV_HOST_DEVICE void complete() {
    length_counts[kEndOfBlock] = 1;
    int kinds = 0;
    for (const std::uint32_t count : distance_counts) kinds += count > 0 ? 1 : 0;
    // Some decoders require a complete distance code, even if no distance is used.
    for (int i = 0; i < 2 && kinds < 2; ++i) {
      if (distance_counts[i] > 0) continue;
      distance_counts[i] = 1, placeholder_distances |= 1u << i, ++kinds;
    }
  }

  /// Encodes the lengths of both codes.
  SEPCONV_HOST_DEVICE void write_description() {
    lengths = used_symbols(length_bits, kLengths, kEndOfBlock + 1);
    distances = used_symbols(distance_bits, kDistances, 1);
    for (int i = 0; i < lengths; ++i) bits[i] = length_bits[i];
    for (int i = 0; i < distances; ++i) bits[lengths + i] = distance_bits[i];
    symbols_written = run_length_encode(bits, lengths + distances, code_length_symbols);
    for (int i = 0; i < symbols_written; ++i) ++code_length_counts[code_length_symbols[i].symbol];
  }

  SEPCONV_HOST_DEVICE void assign(CodeTable& table) {
    assign_codes(told_bits, kCodeLengthSymbols, [&](int symbol, std::uint32_t code) {
      code_length_codes[symbol] = static_cast<std::uint16_t>(code);
    });
    code_length_count = kCodeLengthSymbols;
    while (code_length_count > 4 && told_bits[code_length_order(code_length_count - 1)] == 0)
      --code_length_count;
    assign_to(table.lengths, length_bits, kLengths);
    assign_to(table.distances, distance_bits, kDistances);
  }

  /// Size of the block in bits with these codes.
  SEPCONV_HOST_DEVICE std::int64_t cost() const {
    std::int64_t sum = 3 + 5 + 5 + 4 + 3 * std::int64_t{code_length_count};
    for (int i = 0; i < kCodeLengthSymbols; ++i)
      sum += std::int64_t{code_length_counts[i]} *
             (told_bits[i] + code_length_extra_bits(static_cast<unsigned>(i)));
    for (int i = 0; i < lengths; ++i)
      sum += std::int64_t{length_counts[i]} * (length_bits[i] + length_extra_bits(static_cast<unsigned>(i)));
    for (int i = 0; i < distances; ++i)
      if ((placeholder_distances >> i & 1) == 0)
        sum += std::int64_t{distance_counts[i]} *
               (distance_bits[i] + extra_bits_of<1>(static_cast<unsigned>(i)));
    return sum;
  }

  template <class Sink>
  SEPCONV_HOST_DEVICE void write_block_header(bool is_last, Sink& sink) const {
    sink.put((is_last ? 1u : 0u) | 2u << 1, 3);
    sink.put(static_cast<unsigned>((lengths - 257) | (distances - 1) << 5 | (code_length_count - 4) << 10),
             14);
    for (int i = 0; i < code_length_count; ++i) sink.put(told_bits[code_length_order(i)], 3);
    for (int i = 0; i < symbols_written; ++i) {
      const CodeLengthSymbol next = code_length_symbols[i];
      sink.put(code_length_codes[next.symbol], told_bits[next.symbol]);
      sink.put(next.extra, code_length_extra_bits(next.symbol));
    }
  }

 private:
  SEPCONV_HOST_DEVICE static int used_symbols(const std::uint8_t* code_bits, int count, int min_count) {
    while (count > min_count && code_bits[count - 1] == 0) --count;
    return count;
  }
  SEPCONV_HOST_DEVICE static void assign_to(std::uint32_t* table, const std::uint8_t* code_bits, int count) {
    assign_codes(code_bits, count, [&](int symbol, std::uint32_t code) {
      table[symbol] = code | std::uint32_t{code_bits[symbol]} << 16;
    });
  }
};

}  // namespace sepconv::deflate
