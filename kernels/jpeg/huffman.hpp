// Huffman codes of JPEG (ITU-T T.81, annexes C and F.2.2), and the bit reader of a scan. The same source for
// a GPU and for a host thread.
#pragma once

#include <cstdint>

#include "core/host_device.hpp"
#include "kernels/codec/thread_group.hpp"

namespace sepconv::jpeg {

inline constexpr unsigned kLookBits = 9, kMaxCodeBits = 16;

/// Codes of up to kLookBits bits are looked up; longer ones are compared with the last code of each length.
struct HuffmanTable {
  std::uint16_t lookup[1 << kLookBits];      ///< length of the code << 8 | symbol; 0: a longer code
  std::uint32_t code_end[kMaxCodeBits + 1];  ///< by length: one after its last code, left-aligned in 16 bits
  std::int32_t
      symbol_offset[kMaxCodeBits + 1];  ///< by length: index of its first symbol minus its first code
  std::uint8_t symbols[256];

  /// Builds the table from counts and symbols as stored in the stream; called by all lanes. Returns false if
  /// libjpeg would reject the code or a symbol exceeds max_symbol.
  template <class ThreadGroup>
  SEPCONV_HOST_DEVICE bool build(const ThreadGroup& group, const std::uint8_t* counts, unsigned max_symbol) {
    std::uint32_t code = 0;
    std::int32_t first = 0;
    bool good = true;
    group.sync();
    for (unsigned length = 1; length <= kMaxCodeBits; ++length) {
      const std::int32_t count = counts[length - 1];
      const std::int32_t offset = first - static_cast<std::int32_t>(code);
      code += static_cast<std::uint32_t>(count);
      first += count;
      // A code of only 1 bits is not allowed.
      if (count > 0 && code >= 1U << length) good = false;
      if (group.lane() == 0) {
        symbol_offset[length] = offset;
        code_end[length] = code << (kMaxCodeBits - length);
      }
      code <<= 1;
    }
    if (!good) return false;
    for (std::int32_t i = static_cast<std::int32_t>(group.lane()); i < first;
         i += static_cast<std::int32_t>(ThreadGroup::kLanes)) {
      symbols[i] = counts[kMaxCodeBits + i];
      good = good && symbols[i] <= max_symbol;
    }
    if (!group.all(good)) return false;
    group.sync();
    for (unsigned bits = group.lane(); bits < 1U << kLookBits; bits += ThreadGroup::kLanes) {
      const std::uint32_t code_bits = bits << (kMaxCodeBits - kLookBits);
      const unsigned length = length_of(code_bits, 1, kLookBits);
      lookup[bits] = length > kLookBits
                         ? std::uint16_t{0}
                         : static_cast<std::uint16_t>(length << 8 | symbol_of(code_bits, length));
    }
    group.sync();
    return true;
  }

  /// Length of the code at the begin of these 16 bits, which is at least `from`; more than `to`: not found.
  SEPCONV_HOST_DEVICE unsigned length_of(std::uint32_t bits, unsigned from, unsigned to) const {
    while (from <= to && bits >= code_end[from]) ++from;
    return from;
  }
  SEPCONV_HOST_DEVICE unsigned symbol_of(std::uint32_t bits, unsigned length) const {
    return symbols[symbol_offset[length] + static_cast<std::int32_t>(bits >> (kMaxCodeBits - length))];
  }
};

/// Bit reader for the data between two markers; skips stuffed zero bytes.
class ScanBits {
 public:
  SEPCONV_HOST_DEVICE ScanBits(const std::uint8_t* at, const std::uint8_t* end) : at_(at), end_(end) {}

  /// Buffers at least 32 bits, if that many remain.
  SEPCONV_HOST_DEVICE void fill() {
    while (count_ < 32) {
      if (!read_four_bytes() && !read_byte()) return;
    }
  }
  /// The next 16 bits, padded with zeros at the end.
  SEPCONV_HOST_DEVICE std::uint32_t peek() const { return static_cast<std::uint32_t>(bits_ >> 48); }
  SEPCONV_HOST_DEVICE void skip(unsigned count) {
    bits_ <<= count;
    count_ -= static_cast<int>(count);
  }
  /// A difference or coefficient of this many bits, 1 to 16 (F.2.2.1, EXTEND).
  SEPCONV_HOST_DEVICE int value(unsigned count) {
    const auto magnitude = static_cast<int>(bits_ >> (64 - count));
    skip(count);
    return magnitude < 1 << (count - 1) ? magnitude - (1 << count) + 1 : magnitude;
  }
  /// Whether more bits were read than available.
  SEPCONV_HOST_DEVICE bool ran_out() const { return count_ < 0; }
  /// Skips this marker. Returns false unless it follows the byte of the last bit read.
  SEPCONV_HOST_DEVICE bool read_marker(int marker) {
    const bool follows = count_ >= 0 && count_ < 8 && end_ - at_ >= 2 && at_[0] == 0xFF && at_[1] == marker;
    at_ += follows ? 2 : 0;
    bits_ = 0;
    count_ = 0;
    return follows;
  }

 private:
  SEPCONV_HOST_DEVICE bool read_four_bytes() {
    if (end_ - at_ < 8) return false;
    const auto four = static_cast<std::uint32_t>(eight_bytes(at_));
    if (((~four - 0x01010101U) & four & 0x80808080U) != 0) return false;  // contains a 0xFF byte
    const std::uint32_t bits = four << 24 | (four & 0xFF00U) << 8 | (four >> 8 & 0xFF00U) | four >> 24;
    bits_ |= static_cast<std::uint64_t>(bits) << (32 - count_);
    count_ += 32;
    at_ += 4;
    return true;
  }
  SEPCONV_HOST_DEVICE bool read_byte() {
    if (at_ == end_) return false;
    const bool is_ones = *at_ == 0xFF;
    if (is_ones && (end_ - at_ < 2 || at_[1] != 0)) return false;
    bits_ |= static_cast<std::uint64_t>(*at_) << (56 - count_);
    count_ += 8;
    at_ += is_ones ? 2 : 1;
    return true;
  }

  const std::uint8_t* at_;
  const std::uint8_t* end_;
  std::uint64_t bits_ = 0;  ///< the next bit is the highest
  int count_ = 0;
};

}  // namespace sepconv::jpeg
