// The Huffman code of a block's literals (RFC 8878, 4.2), and its description. The same source for the CPU
// and the GPU encoder, which produce the same bytes.
#pragma once

#include <cstdint>

#include "core/host_device.hpp"
#include "core/zstd/frame.hpp"
#include "core/zstd/fse_code.hpp"

namespace sepconv::zstd {

/// Writes bits to bytes, lowest first; for small amounts of data.
struct ByteSink {
  std::uint8_t* out;
  std::uint32_t buffered = 0;
  unsigned count = 0;

  /// Writes at most 16 bits.
  SEPCONV_HOST_DEVICE void put(unsigned value, unsigned bits) {
    buffered |= value << count;
    for (count += bits; count >= 8; count -= 8, buffered >>= 8) *out++ = static_cast<std::uint8_t>(buffered);
  }
  SEPCONV_HOST_DEVICE void align() {
    if (count > 0) put(0, 8 - count);
  }
};

/// Built in steps: fill the counts; choose_lengths() with kMaxLiteralLog, for two literals or more; write_description();
/// assign().
struct LiteralCode {
  static constexpr unsigned kValues = 256;
  static constexpr int kMaxHead = 128;

  // Must be zero initially.
  std::uint32_t counts[kValues];
  std::uint8_t bits[kValues];
  std::uint8_t
      head[kMaxHead + 128];  ///< the description of the code, with space to detect that it is too long
  int head_bytes;            ///< 0: the code cannot be described
  FseCode weight_code;

  /// Writes the description of the code: a weight for each literal except the last one that occurs.
  SEPCONV_HOST_DEVICE void write_description() {
    unsigned symbols = kValues, log = 0;
    while (bits[symbols - 1] == 0) --symbols;
    for (unsigned i = 0; i < symbols; ++i) log = bits[i] > log ? bits[i] : log;
    const unsigned encoded_weights = symbols - 1;
    const auto weight = [&](unsigned i) { return bits[i] == 0 ? 0U : log + 1 - bits[i]; };
    const int direct = 1 + static_cast<int>((encoded_weights + 1) / 2);
    head_bytes = encoded_weights >= 2 ? encode_weights_by_states(encoded_weights, weight) : kMaxHead + 1;
    if (encoded_weights <= 128 && direct <= head_bytes) {
      head[0] = static_cast<std::uint8_t>(127 + encoded_weights);
      for (unsigned i = 0; i < encoded_weights; i += 2)
        head[1 + i / 2] =
            static_cast<std::uint8_t>(weight(i) << 4 | (i + 1 < encoded_weights ? weight(i + 1) : 0));
      head_bytes = direct;
    }
    if (head_bytes > kMaxHead) head_bytes = 0;
  }

  /// Calls set(literal, code) for all literals that have a code, highest bit first as decoders look it up.
  template <class Set>
  SEPCONV_HOST_DEVICE void assign(const Set& set) const {
    std::uint32_t next[kMaxLiteralLog + 2] = {};
    for (const std::uint8_t length : bits) ++next[length];
    // The longest codes begin at 0, shorter ones after them.
    std::uint32_t code = 0;
    for (unsigned length = kMaxLiteralLog + 1; length-- > 1;) {
      const std::uint32_t length_count = next[length];
      next[length] = code;
      code = (code + length_count) >> 1;
    }
    for (unsigned literal = 0; literal < kValues; ++literal)
      if (bits[literal] > 0) set(literal, next[bits[literal]]++);
  }

  /// Whether `count` literals are smaller with this code than raw.
  SEPCONV_HOST_DEVICE bool pays(std::uint32_t count) const {
    if (head_bytes == 0) return false;
    std::int64_t sum = 0;
    for (unsigned i = 0; i < kValues; ++i) sum += std::int64_t{counts[i]} * bits[i];
    // Streams end with a mark, at a byte boundary.
    return head_bytes + kJumpTableBytes + sum / 8 + kStreams + 1 < count;
  }

 private:
  /// Encodes the weights with two alternating FSE states (4.2.1.2). Returns the bytes of the description.
  template <class Weight>
  SEPCONV_HOST_DEVICE int encode_weights_by_states(unsigned encoded_weights, const Weight& weight) {
    constexpr unsigned kKinds = kMaxLiteralLog + 1;
    std::uint32_t weight_counts[kKinds] = {};
    for (unsigned i = 0; i < encoded_weights; ++i) ++weight_counts[weight(i)];
    // With a single weight, states would need no bits and the decoder could not find the end: a second weight
    // is counted.
    const unsigned kind = weight(0), other = kind == 0 ? 1 : 0;
    const unsigned extra_count = weight_counts[kind] == encoded_weights ? 1 : 0;
    weight_counts[other] += extra_count;
    int state_counts[kKinds];
    normalize_counts(weight_counts, kKinds, encoded_weights + extra_count, state_counts);
    weight_code.make([&](unsigned symbol) { return state_counts[symbol]; }, kKinds, kMaxWeightLog);
    ByteSink sink{head + 1};
    write_fse_table(weight_code, kKinds, sink);
    sink.align();
    unsigned states[2] = {};
    for (unsigned i = encoded_weights; i-- > 0;) {
      unsigned& state = states[i % 2];
      state =
          i + 2 >= encoded_weights ? weight_code.last(weight(i)) : weight_code.before(state, weight(i), sink);
    }
    sink.put(states[1], kMaxWeightLog);
    sink.put(states[0], kMaxWeightLog);
    sink.put(1, 1);
    sink.align();
    const auto bytes = static_cast<int>(sink.out - head);
    head[0] = static_cast<std::uint8_t>(bytes - 1);
    return bytes;
  }

  /// Distributes 2^kMaxWeightLog states over symbols in proportion to their counts, which sum to `all`: at
  /// least one each.
  SEPCONV_HOST_DEVICE static void normalize_counts(const std::uint32_t* counts_of, unsigned symbols,
                                                   unsigned all, int* state_counts) {
    int left = 1 << kMaxWeightLog;
    for (unsigned i = 0; i < symbols; ++i) {
      const auto part = static_cast<int>((counts_of[i] << kMaxWeightLog) / all);
      state_counts[i] = part == 0 && counts_of[i] > 0 ? 1 : part;
      left -= state_counts[i];
    }
    // A remaining state is given to the symbol that benefits most; an excess one is taken from the symbol
    // that loses least.
    for (; left != 0; left += left < 0 ? 1 : -1) {
      int best = -1;
      for (unsigned i = 0; i < symbols; ++i) {
        if (counts_of[i] == 0 || (left < 0 && state_counts[i] == 1)) continue;
        const auto this_count = static_cast<int>(counts_of[i]);
        const int best_count = best < 0 ? 0 : static_cast<int>(counts_of[best]);
        const bool is_better =
            best < 0 || (left > 0 ? this_count * state_counts[best] > best_count * state_counts[i]
                                  : this_count * state_counts[best] < best_count * state_counts[i]);
        if (is_better) best = static_cast<int>(i);
      }
      state_counts[best] += left < 0 ? -1 : 1;
    }
  }
};

}  // namespace sepconv::zstd
