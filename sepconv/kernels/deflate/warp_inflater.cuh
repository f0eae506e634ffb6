// A deflate stream (RFC 1951) in a zlib frame (RFC 1950) or a gzip one (RFC 1952), decoded by one warp. Every
// lane holds the stream's state, so that nothing diverges; tables and copies are shared out among the lanes.
// A GPU has few streams to decode at once, so what counts is how long a warp takes for a symbol: the loop
// over literals is short, without exchange between lanes, and looks at several of them at once.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "sepconv/core/coded_tiles.hpp"
#include "sepconv/kernels/deflate/inflate_tables.cuh"

namespace sepconv::engine {

class WarpInflater {
 public:
  /// `stream`: `bytes` of it, at a multiple of 16; `out`: `size` bytes of the result, fewer than 2^31, at a
  /// multiple of 16.
  __device__ WarpInflater(const std::byte* stream, std::int64_t bytes, BlockCodec codec, std::byte* out,
                          std::int64_t size, InflateTables& tables)
      : stream_(reinterpret_cast<const std::uint8_t*>(stream)),
        bytes_(bytes < kMostStreamBytes ? static_cast<std::uint32_t>(bytes) : 0),
        is_gzip_(codec == BlockCodec::gzip),
        out_(reinterpret_cast<std::uint8_t*>(out)),
        size_(static_cast<std::uint32_t>(size)),
        tables_(tables),
        lane_(threadIdx.x & 31) {}

  /// Whether the stream is sound and of exactly that size; its checksum is still to be looked at. Streams
  /// with codes that encoders do not make are not taken, even where a lenient decoder would.
  __device__ bool run() {
    if (is_gzip_ ? !gzip_header() : !zlib_header()) return false;
    for (bool last = false; !last;) {
      last = take(1) != 0;
      const unsigned kind = take(2);
      const bool good = kind == 0 ? stored() : kind == 3 ? false : codes(kind == 1) && coded();
      if (!good || bit_ > bytes_ * 8) return false;
    }
    const std::uint32_t end = (bit_ + 7) / 8;
    const bool ends = is_gzip_ ? end + 8 == bytes_ : end + 4 <= bytes_;
    if (at_ != size_ || !ends || !flush_some()) return false;
    flush(at_ - flushed_);
    const std::uint8_t* const tail = stream_ + end;
    checksum_ = number(tail);
    if (!is_gzip_) checksum_ = __byte_perm(checksum_, 0, 0x0123);
    return !is_gzip_ || number(tail + 4) == size_;
  }

  __device__ std::uint32_t checksum() const { return checksum_; }

 private:
  static constexpr std::int64_t kMostStreamBytes = 1 << 28;  // bits are counted in 32
  static constexpr unsigned kFlush = 2048;                   // bytes that go to the result at once
  static constexpr unsigned kLongestRepeat = 258;
  static constexpr unsigned kPart = 128;  // words of the stream that are loaded at once

  static __device__ std::uint32_t number(const std::uint8_t* at) {
    return at[0] | std::uint32_t{at[1]} << 8 | std::uint32_t{at[2]} << 16 | std::uint32_t{at[3]} << 24;
  }

  __device__ bool zlib_header() {
    if (bytes_ < 6) return false;
    seek(0);
    const unsigned header = take(16);
    const unsigned method = header & 0xFF, flags = header >> 8;
    return (method & 15) == 8 && method >> 4 <= 7 && (method << 8 | flags) % 31 == 0 && (flags & 32) == 0;
  }
  /// One without a name or other fields.
  __device__ bool gzip_header() {
    constexpr unsigned kMagicOfDeflate = 0x088B1F, kHeader = 10, kTail = 8;
    if (bytes_ <= kHeader + kTail || number(stream_) != kMagicOfDeflate) return false;
    seek(kHeader);
    return true;
  }

  // The stream comes part by part into a ring of two, one more ahead of it in registers.

  __device__ uint4 load(std::uint32_t word) const {
    const std::uint32_t mine = word + 4 * lane_;
    return mine * 4 < bytes_ ? __ldg(reinterpret_cast<const uint4*>(stream_) + mine / 4) : uint4{};
  }

  __device__ void put_part() {
    const std::uint32_t place = (loaded_ + 4 * lane_) % kRingWords;
    *reinterpret_cast<uint4*>(tables_.ring + place) = ahead_;
    if (place == 0) tables_.ring[kRingWords] = ahead_.x, tables_.ring[kRingWords + 1] = ahead_.y;
    loaded_ += kPart;
    ahead_ = load(loaded_);
  }

  /// To be called when `bit_` has come to fill_at_, which leaves a part of words.
  __device__ void fill() {
    __syncwarp();
    put_part();
    fill_at_ = (loaded_ - kPart) * 32;
    __syncwarp();
  }

  /// Goes on with this byte.
  __device__ void seek(std::uint32_t byte) {
    __syncwarp();
    loaded_ = byte / 16 * 4;
    ahead_ = load(loaded_);
    put_part();
    bit_ = byte * 8;
    fill();
  }

  /// The next 32 bits.
  __device__ unsigned peek() const {
    const std::uint32_t* const words = tables_.ring + bit_ / 32 % kRingWords;
    return __funnelshift_r(words[0], words[1], bit_ % 32);
  }

  /// The next 64 bits.
  __device__ std::uint64_t peek_far() const {
    const std::uint32_t* const words = tables_.ring + bit_ / 32 % kRingWords;
    const std::uint32_t middle = words[1];
    return std::uint64_t{__funnelshift_r(middle, words[2], bit_ % 32)} << 32 |
           __funnelshift_r(words[0], middle, bit_ % 32);
  }

  /// At most 16.
  __device__ unsigned take(unsigned count) {
    const unsigned value = peek() & ((1U << count) - 1);
    bit_ += count;
    if (bit_ >= fill_at_) fill();
    return value;
  }

  // The result passes through the window.

  /// The next `count` bytes that are not yet in the result go there.
  __device__ void flush(unsigned count) {
    __syncwarp();
    const std::uint8_t* const from = tables_.window + flushed_ % kWindow;  // kFlush divides the window
    std::uint8_t* const to = out_ + flushed_;
    const unsigned vectors = count / 16;
#pragma unroll 1
    for (unsigned i = lane_; i < vectors; i += 32)
      reinterpret_cast<uint4*>(to)[i] = reinterpret_cast<const uint4*>(from)[i];
#pragma unroll 1
    for (unsigned i = vectors * 16 + lane_; i < count; i += 32) to[i] = from[i];
    __syncwarp();
    flushed_ += count;
  }

  /// After some bytes, at most kLongestRepeat; false: there are more than the result has.
  __device__ bool flush_some() {
    if (at_ - flushed_ < kFlush) return true;
    if (at_ > size_) return false;
    flush(kFlush);
    return true;
  }

  __device__ bool stored() {
    const std::uint32_t begin = (bit_ + 7) / 8;
    if (begin + 4 > bytes_) return false;
    seek(begin);
    const unsigned length = take(16);
    const unsigned inverse = take(16);
    if ((length ^ inverse) != 0xFFFF || begin + 4 + length > bytes_ || at_ + length > size_) return false;
#pragma unroll 1
    for (unsigned first = 0; first < length; first += 256) {
      const unsigned count = min(256U, length - first);
#pragma unroll 1
      for (unsigned i = lane_; i < count; i += 32)
        tables_.window[(at_ + i) % kWindow] = stream_[begin + 4 + first + i];
      at_ += count;
      if (!flush_some()) return false;
    }
    seek(begin + 4 + length);
    return true;
  }

  __device__ bool codes(bool fixed) {
    if (!fixed) return told_codes();
    // RFC 1951, 3.2.6.
    for (unsigned symbol = lane_; symbol < 288; symbol += 32)
      tables_.lengths[symbol] = symbol < 144 ? 8 : symbol < 256 ? 9 : symbol < 280 ? 7 : 8;
    tables_.lengths[288 + lane_] = 5;
    return make_tables(tables_, 288, 32, lane_);
  }

  /// RFC 1951, 3.2.7.
  __device__ bool told_codes() {
    constexpr unsigned kMostLengths = 286, kMostDistances = 30;
    const unsigned lengths = take(5) + 257, distances = take(5) + 1, kinds = take(4) + 4;
    if (lengths > kMostLengths || distances > kMostDistances) return false;
    std::uint8_t* const told = tables_.lengths;
    if (lane_ < 19) told[lane_] = 0;
    __syncwarp();
#pragma unroll 1
    for (unsigned i = 0; i < kinds; ++i) {
      const unsigned bits = take(3);
      if (lane_ == 0) told[order_of(i)] = static_cast<std::uint8_t>(bits);
    }
    if (!make_length_table(tables_, lane_)) return false;
    const unsigned all = lengths + distances;
    unsigned before = 0;
#pragma unroll 1
    for (unsigned i = 0; i < all;) {
      const unsigned entry = tables_.distances[peek() % (1U << kLengthBits)];
      take(entry & 15);
      const unsigned symbol = entry >> 4;
      unsigned count = 1, value = symbol;
      if (symbol == 16) {
        if (i == 0) return false;
        value = before, count = 3 + take(2);
      } else if (symbol == 17) {
        value = 0, count = 3 + take(3);
      } else if (symbol == 18) {
        value = 0, count = 11 + take(7);
      }
      if (i + count > all) return false;
#pragma unroll 1
      for (unsigned k = lane_; k < count; k += 32) told[i + k] = static_cast<std::uint8_t>(value);
      before = value;
      i += count;
    }
    __syncwarp();
    return told[256] != 0 && make_tables(tables_, lengths, distances, lane_);
  }

  /// The literals of an entry.
  __device__ void put(std::uint32_t entry) {
    const unsigned literals = entry >> 4 & 3;
    if (lane_ < literals)
      tables_.window[(at_ + lane_) % kWindow] = static_cast<std::uint8_t>(entry >> (8 + 8 * lane_));
    at_ += literals;
  }

  /// Up to four looks at literals; false: the symbol `entry`, which is still to be used, is none or has a
  /// long code, and `bits` begins with it.
  __device__ bool literals(std::uint32_t& entry, std::uint64_t& bits) {
    bits = peek_far();
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      entry = tables_.literals[bits % (1U << kLiteralBits)];
      if ((entry & kIsLiteral) == 0) {
        if (k > 1) bits = peek_far();  // fewer are left than a repeat takes, which is at most 48
        return false;
      }
      put(entry);
      bits >>= entry & 15;
      bit_ += entry & 15;
    }
    return true;
  }

  /// The symbols of a block, up to its end.
  __device__ bool coded() {
    std::uint32_t entry;
    std::uint64_t bits;
    for (;;) {
      if (bit_ >= fill_at_) fill();
      if (!flush_some()) return false;
      if (literals(entry, bits)) continue;
      if ((entry & 15) == 0) {
        entry = long_code(static_cast<unsigned>(bits));
        if (entry == 0) return false;
      }
      bit_ += entry & 15;
      if ((entry & kIsLiteral) != 0) {
        put(entry);
      } else if ((entry >> 6 & 3) == kEnd) {
        if (bit_ >= fill_at_) fill();
        return at_ <= size_;
      } else if (!repeat(entry, bits >> (entry & 15))) {
        return false;
      }
    }
  }

  /// The entry of a symbol of the code of literals and lengths; 0 if it is none.
  __device__ std::uint32_t long_code(unsigned bits) {
    const unsigned found = symbol_of(tables_.literal_code, bits);
    const unsigned symbol = found >> 4, count = found & 15;
    if (found == 0 || symbol > 285) return 0;
    if (symbol > 256) return length_entry(symbol, count);
    return symbol == 256 ? count | kEnd << 6 : count | 1U << 4 | symbol << 8;
  }

  static __device__ unsigned low_bits(std::uint64_t bits, unsigned count) {
    return static_cast<unsigned>(bits) & ((1U << count) - 1);
  }

  /// `bits` follow the code of the length.
  __device__ bool repeat(std::uint32_t entry, std::uint64_t bits) {
    const unsigned more = entry >> 8 & 7;
    const unsigned length = (entry >> 11) + low_bits(bits, more);
    bits >>= more;
    std::uint32_t far = tables_.distances[bits % (1U << kDistanceBits)];
    if (far == 0) {
      const unsigned found = symbol_of(tables_.distance_code, static_cast<unsigned>(bits));
      if (found == 0 || found >> 4 > 29) return false;
      far = distance_entry(found >> 4, found & 15);
    }
    bits >>= far & 15;
    const unsigned distance = (far >> 8) + low_bits(bits, far >> 4 & 15);
    bit_ += more + (far & 15) + (far >> 4 & 15);
    if (distance > at_ || at_ + length > size_) return false;
    copy(distance, length);
    at_ += length;
    return true;
  }

  /// What is copied lies before `at_`: of a repeat that overlaps itself its first period.
  __device__ void copy(unsigned distance, unsigned length) {
    const unsigned from = at_ - distance;
    __syncwarp();
    if (length <= 32 && length <= distance && distance <= kWindow - kLongestRepeat) {
      const std::uint8_t byte = tables_.window[(from + lane_) % kWindow];
      if (lane_ < length) tables_.window[(at_ + lane_) % kWindow] = byte;
    } else {
      const bool is_flushed = distance > kWindow - kLongestRepeat;
#pragma unroll 1
      for (unsigned i = lane_; i < length; i += 32) {
        const unsigned place = from + (distance < length ? i % distance : i);
        tables_.window[(at_ + i) % kWindow] = is_flushed ? out_[place] : tables_.window[place % kWindow];
      }
    }
    __syncwarp();
  }

  const std::uint8_t* stream_;
  std::uint32_t bytes_;
  bool is_gzip_;
  std::uint8_t* out_;
  std::uint32_t size_;
  InflateTables& tables_;
  unsigned lane_;
  uint4 ahead_{};              // the part behind the ring's
  std::uint32_t loaded_ = 0;   // words that are in the ring, or were
  std::uint32_t bit_ = 0;      // of the stream, the next
  std::uint32_t fill_at_ = 0;  // when `bit_` is there, the ring has room for a part
  std::uint32_t at_ = 0, flushed_ = 0;
  std::uint32_t checksum_ = 0;
};

}  // namespace sepconv::engine
