// Bit readers of a zstd frame (RFC 8878): FSE tables are read forwards, codes backwards.
#pragma once

#include "core/host_device.hpp"
#include "core/zstd/format.hpp"
#include "kernels/codec/thread_group.hpp"

namespace sepconv::zstd {

SEPCONV_HOST_DEVICE inline std::uint32_t little(const std::uint8_t* at, unsigned bytes) {
  std::uint32_t value = 0;
  for (unsigned i = 0; i < bytes; ++i) value |= std::uint32_t{at[i]} << 8 * i;
  return value;
}

/// Reads from the first byte's lowest bit upwards; zeros follow the end.
class ForwardBits {
 public:
  SEPCONV_HOST_DEVICE ForwardBits(const std::uint8_t* begin, std::uint32_t bytes)
      : begin_(begin), bytes_(bytes) {}
  /// At most 16.
  SEPCONV_HOST_DEVICE std::uint32_t peek(unsigned count) const {
    std::uint32_t value = 0;
    for (unsigned i = 0; i < 3; ++i) {
      const std::uint32_t at = bit_ / 8 + i;
      if (at < bytes_) value |= std::uint32_t{begin_[at]} << 8 * i;
    }
    return value >> bit_ % 8 & ((1U << count) - 1);
  }
  SEPCONV_HOST_DEVICE void skip(unsigned count) { bit_ += count; }
  SEPCONV_HOST_DEVICE std::uint32_t read(unsigned count) {
    const std::uint32_t value = peek(count);
    skip(count);
    return value;
  }
  /// Bytes read, including a partly read one. More than the input has: the input was too short.
  SEPCONV_HOST_DEVICE std::uint32_t used() const { return (bit_ + 7) / 8; }

 private:
  const std::uint8_t* begin_;
  std::uint32_t bytes_, bit_ = 0;
};

/// Reads downwards from the highest set bit of the last byte, which is an end mark; zeros precede the first
/// byte. For fewer bytes than 2^28.
class BackwardBits {
 public:
  /// peek() returns at least 57 valid bits, the next one highest.
  static constexpr int kPeeked = 57;

  BackwardBits() = default;
  SEPCONV_HOST_DEVICE BackwardBits(const std::uint8_t* begin, std::uint32_t bytes) : begin_(begin) {
    if (bytes == 0 || begin[bytes - 1] == 0) return;
    left_ = static_cast<std::int32_t>((bytes - 1) * 8 + highest_bit(begin[bytes - 1]));
  }
  /// Remaining bits. Negative: there was no end mark, or too many bits were read.
  SEPCONV_HOST_DEVICE std::int32_t left() const { return left_; }
  SEPCONV_HOST_DEVICE void skip(unsigned count) { left_ -= static_cast<std::int32_t>(count); }

  SEPCONV_HOST_DEVICE std::uint64_t peek() const {
    const std::int32_t end = left_ <= 0 ? 0 : (left_ + 7) / 8;
    const auto unused = static_cast<unsigned>(end * 8 - (left_ <= 0 ? 0 : left_));
    if (end >= 8) return eight_bytes(begin_ + end - 8) << unused;
    std::uint64_t value = 0;
    for (std::int32_t i = 0; i < end; ++i) value |= std::uint64_t{begin_[i]} << 8 * (8 - end + i);
    return value << unused;
  }
  /// At most kPeeked.
  SEPCONV_HOST_DEVICE std::uint64_t read(unsigned count) {
    const std::uint64_t value = count == 0 ? 0 : peek() >> (64 - count);
    skip(count);
    return value;
  }

 private:
  const std::uint8_t* begin_ = nullptr;
  std::int32_t left_ = -1;
};

}  // namespace sepconv::zstd
