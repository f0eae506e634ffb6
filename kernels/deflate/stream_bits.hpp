// Reads the bits of a stream for a group of threads: the stream is loaded in parts into a ring buffer of two
// parts in fast memory, with one more part prefetched into registers.
#pragma once

#include <cstdint>

#include "core/host_device.hpp"
#include "kernels/codec/thread_group.hpp"

namespace sepconv::deflate {

/// Words of the ring. Word i of the stream is ring[i % kRingWords]; the first two words are repeated at the
/// end.
inline constexpr unsigned kRingWords = 256;

/// Reads the lowest bits first (RFC 1951, 3.1.1). Bits after the end of the stream are undefined. All lanes
/// must take part in each call.
template <class ThreadGroup>
class StreamBits {
 public:
  /// `stream` is aligned to 16 bytes and readable up to the next multiple of 16 after `bytes`. `ring`:
  /// kRingWords + 4 words, aligned to 16 bytes.
  SEPCONV_HOST_DEVICE StreamBits(const std::uint8_t* stream, std::uint32_t bytes, std::uint32_t* ring)
      : stream_(stream), bytes_(bytes), ring_(ring), lane_(ThreadGroup::lane()) {}

  SEPCONV_HOST_DEVICE std::uint32_t used() const { return bit_; }
  SEPCONV_HOST_DEVICE std::uint32_t used_bytes() const { return (bit_ + 7) / 8; }

  /// Continues at this byte.
  SEPCONV_HOST_DEVICE void seek(std::uint32_t byte) {
    group_.sync();
    loaded_ = byte / 16 * 4;
    load(loaded_);
    store_part();
    bit_ = byte * 8;
    fill();
  }

  /// The next 32 bits.
  SEPCONV_HOST_DEVICE unsigned peek() const {
    const std::uint32_t* const words = ring_ + bit_ / 32 % kRingWords;
    return shifted(words[0], words[1], bit_ % 32);
  }

  /// The next 64 bits.
  SEPCONV_HOST_DEVICE std::uint64_t peek_64() const {
    const std::uint32_t* const words = ring_ + bit_ / 32 % kRingWords;
    const std::uint32_t middle = words[1];
    return std::uint64_t{shifted(middle, words[2], bit_ % 32)} << 32 | shifted(words[0], middle, bit_ % 32);
  }

  /// Reads at most 16 bits.
  SEPCONV_HOST_DEVICE unsigned read(unsigned count) {
    const unsigned value = peek() & ((1U << count) - 1);
    bit_ += count;
    if (bit_ >= fill_threshold_) fill();
    return value;
  }
  SEPCONV_HOST_DEVICE void skip(unsigned count) { bit_ += count; }
  /// Ensures that a part of words is buffered, so that the next step needs no check.
  SEPCONV_HOST_DEVICE void fill_if_short() {
    if (bit_ >= fill_threshold_) fill();
  }

 private:
  static constexpr unsigned kPart = kRingWords / 2;
  static constexpr unsigned kLoads = kPart / 4 / ThreadGroup::kLanes;  // per lane

  /// Loads this lane's share of the part that begins at this word.
  SEPCONV_HOST_DEVICE void load(std::uint32_t word) {
    SEPCONV_UNROLLED
    for (unsigned i = 0; i < kLoads; ++i) {
      const std::uint32_t index = word + 4 * (lane_ + i * ThreadGroup::kLanes);
      next_part_[i] = index * 4 < bytes_ ? load_16_bytes(stream_ + index * 4) : Bytes16{};
    }
  }

  SEPCONV_HOST_DEVICE void store_part() {
    SEPCONV_UNROLLED
    for (unsigned i = 0; i < kLoads; ++i) {
      const std::uint32_t ring_index = (loaded_ + 4 * (lane_ + i * ThreadGroup::kLanes)) % kRingWords;
      store_16_bytes(next_part_[i], ring_ + ring_index);
      if (ring_index == 0)
        ring_[kRingWords] = next_part_[i].at[0], ring_[kRingWords + 1] = next_part_[i].at[1];
    }
    loaded_ += kPart;
    load(loaded_);
  }

  SEPCONV_HOST_DEVICE void fill() {
    group_.sync();
    store_part();
    fill_threshold_ = (loaded_ - kPart) * 32;
    group_.sync();
  }

  const std::uint8_t* stream_;
  std::uint32_t bytes_;
  std::uint32_t* ring_;
  unsigned lane_;
  ThreadGroup group_;
  Bytes16 next_part_[kLoads] = {};    // the part after the ring's
  std::uint32_t loaded_ = 0;          // words of the stream loaded into the ring so far
  std::uint32_t bit_ = 0;             // index of the next bit
  std::uint32_t fill_threshold_ = 0;  // from this `bit_` on, the ring has space for a part
};

}  // namespace sepconv::deflate
