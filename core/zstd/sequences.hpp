// Encoding of the matches of an image's bytes as sequences of a zstd block (RFC 8878, 3.1.1.3.2). The same
// source for the CPU and the GPU encoder, which produce the same bytes.
#pragma once

#include <cstdint>

#include "core/host_device.hpp"
#include "core/zstd/fse_code.hpp"

namespace sepconv::zstd {

/// A number of literals, then a match of `length` bytes; `value` is the offset value (3.1.1.5).
struct Sequence {
  std::uint32_t literals, length, value;
};

/// The recent offsets within one block. The offsets before the block are treated as unknown, so that blocks
/// can be encoded in any order.
class RepeatOffsets {
 public:
  /// Returns the offset value of this distance.
  SEPCONV_HOST_DEVICE std::uint32_t value(std::uint32_t distance, std::uint32_t literals) {
    const bool is_last = distance == last_ && literals > 0;
    if (is_last) return 1;
    const bool is_before = distance == before_last_;
    before_last_ = last_;
    last_ = distance;
    return !is_before ? distance + 3 : literals > 0 ? 2 : 1;
  }

 private:
  std::uint32_t last_ = 0, before_last_ = 0;  // 0: unknown
};

/// A code and its extra bits.
struct Coded {
  std::uint32_t code, extra, extra_bits;
};
template <class ExtraOf>
SEPCONV_HOST_DEVICE Coded coded_length(std::uint32_t value, std::uint32_t code, const ExtraOf& extra_of) {
  while (extra_of(code).bits < 16 && extra_of(code + 1).base <= value) ++code;
  return {code, value - extra_of(code).base, extra_of(code).bits};
}
SEPCONV_HOST_DEVICE inline Coded coded_literals(std::uint32_t count) {
  if (count < 16) return {count, 0, 0};
  return coded_length(count, count < 64 ? 16 : highest_bit(count) + 19, literals_of);
}
SEPCONV_HOST_DEVICE inline Coded coded_match(std::uint32_t length) {
  if (length < 35) return {length - 3, 0, 0};
  return coded_length(length, length < 131 ? 32 : highest_bit(length - 3) + 36, length_of);
}
SEPCONV_HOST_DEVICE inline Coded coded_distance(std::uint32_t value) {
  const unsigned bits = highest_bit(value);
  return {bits, value - (1U << bits), bits};
}

/// The codes of all three kinds, with the default distributions.
struct SequenceCodes {
  FseCode kinds[3];
  SEPCONV_HOST_DEVICE void make() {
    for (unsigned kind = 0; kind < 3; ++kind) kinds[kind].make_default(kind);
  }
};

/// Writes the sequences section header: the number of sequences, and that the default distributions are used.
/// sink.put() gets at most 16 bits.
template <class Sink>
SEPCONV_HOST_DEVICE void write_sequences_header(std::uint32_t count, Sink& sink) {
  if (count < 128) {
    sink.put(count, 8);
  } else if (count < 0x7F00) {
    sink.put((count >> 8) + 128, 8), sink.put(count & 0xFF, 8);
  } else {
    sink.put(255, 8), sink.put(count - 0x7F00, 16);
  }
  if (count > 0) sink.put(0, 8);
}

/// Writes the bits of the sequences, from the last to the first, and the end mark. sink.put() gets at most 16
/// bits.
template <class At, class Sink>
SEPCONV_HOST_DEVICE void write_sequence_bits(const SequenceCodes& codes, std::uint32_t count, const At& at,
                                             Sink& sink) {
  std::uint32_t states[3] = {};
  for (std::uint32_t i = count; i-- > 0;) {
    const Sequence sequence = at(i);
    const Coded parts[3] = {coded_literals(sequence.literals), coded_distance(sequence.value),
                            coded_match(sequence.length)};
    constexpr unsigned kStates[] = {kDistances, kLengths, kLiterals};
    for (const unsigned kind : kStates) {
      const FseCode& code = codes.kinds[kind];
      states[kind] =
          i + 1 == count ? code.last(parts[kind].code) : code.before(states[kind], parts[kind].code, sink);
    }
    constexpr unsigned kExtras[] = {kLiterals, kLengths, kDistances};
    for (const unsigned kind : kExtras) sink.put(parts[kind].extra, parts[kind].extra_bits);
  }
  constexpr unsigned kFirst[] = {kLengths, kDistances, kLiterals};
  for (const unsigned kind : kFirst) sink.put(states[kind], codes.kinds[kind].log);
  sink.put(1, 1);
}

}  // namespace sepconv::zstd
