// Decodes an LZ4 block ("Block Format Description") after a length, as numcodecs stores it, by a group of
// threads: a GPU's warp, or one host thread.
#pragma once

#include "core/host_device.hpp"
#include "kernels/codec/thread_group.hpp"

namespace sepconv::lz4 {

template <class ThreadGroup>
class BlockDecoder {
 public:
  /// `stream`: `bytes` bytes. `out`: `size` bytes for the result. Both are fewer than 2^31.
  SEPCONV_HOST_DEVICE BlockDecoder(const std::byte* stream, std::int64_t bytes, std::byte* out,
                                   std::int64_t size)
      : in_(reinterpret_cast<const std::uint8_t*>(stream)),
        bytes_(bytes < kMaxBytes ? static_cast<std::uint32_t>(bytes) : 0),
        out_(reinterpret_cast<std::uint8_t*>(out)),
        size_(size < kMaxBytes ? static_cast<std::uint32_t>(size) : 0) {}

  /// Decodes the block. Returns whether it has exactly this many bytes and ends as the format requires: the
  /// last match begins at least 12 bytes before the end, and the last 5 bytes are literals.
  SEPCONV_HOST_DEVICE bool run() {
    if (bytes_ <= kLengthBytes || decoded_length() != size_) return false;
    at_ = kLengthBytes;
    for (;;) {
      if (at_ == bytes_) return false;
      const unsigned token = in_[at_++];
      std::uint64_t literals = token >> 4, length = token & 15;
      if (!extend(literals) || literals > bytes_ - at_ || literals > size_ - written_) return false;
      const std::uint8_t* const literal = in_ + at_;
      const auto count = static_cast<std::uint32_t>(literals);
      at_ += count;
      if (at_ == bytes_) {
        copy_bytes(group_, literal, count, out_ + written_);
        group_.sync();
        return written_ + count == size_;
      }
      if (bytes_ - at_ < 2 + 1 + kLastLiterals || size_ - written_ - count < kMinBeforeEnd) return false;
      const std::uint32_t distance = in_[at_] | std::uint32_t{in_[at_ + 1]} << 8;
      at_ += 2;
      if (!extend(length) || length + kMinMatch > size_ - written_ - count - kLastLiterals || distance == 0 ||
          distance > written_ + count)
        return false;
      length += kMinMatch;
      write_sequence(group_, literal, count, distance, static_cast<std::uint32_t>(length), out_ + written_);
      written_ += count + static_cast<std::uint32_t>(length);
    }
  }

 private:
  static constexpr std::int64_t kMaxBytes = std::int64_t{1} << 31;
  static constexpr std::uint32_t kLengthBytes = 4;
  static constexpr std::uint32_t kMinMatch = 4, kLastLiterals = 5, kMinBeforeEnd = 12;

  SEPCONV_HOST_DEVICE std::uint32_t decoded_length() const {
    return in_[0] | std::uint32_t{in_[1]} << 8 | std::uint32_t{in_[2]} << 16 | std::uint32_t{in_[3]} << 24;
  }

  /// Adds the extra bytes of a length of 15, up to the first that is not 255. Returns false if the input ends
  /// before.
  SEPCONV_HOST_DEVICE bool extend(std::uint64_t& length) {
    if (length < 15) return true;
    for (;;) {
      if (at_ == bytes_) return false;
      const unsigned more = in_[at_++];
      length += more;
      if (more != 255) return true;
    }
  }

  const std::uint8_t* in_;
  std::uint32_t bytes_, at_ = 0;  ///< at_: index of the next byte
  std::uint8_t* out_;
  std::uint32_t size_, written_ = 0;
  ThreadGroup group_;
};

}  // namespace sepconv::lz4
