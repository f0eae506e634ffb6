// Decodes a deflate stream (RFC 1951) in zlib (RFC 1950) or gzip (RFC 1952) format, by one warp or, with the
// same source, by one host thread. Every lane has the stream's state, so nothing diverges; tables and copies
// are distributed over the lanes. A GPU decodes few streams at a time, so the latency per symbol matters: the
// loop over literals is short, needs no exchange between lanes, and decodes several literals per lookup.
#pragma once

#include <cstdint>

#include "core/encoded_tiles.hpp"
#include "core/host_device.hpp"
#include "kernels/deflate/stream_bits.hpp"
#include "kernels/deflate/stream_tables.hpp"

namespace sepconv::deflate {

template <class ThreadGroup>
class StreamDecoder {
 public:
  /// `stream`: `bytes` bytes, aligned to 16 and readable up to the next multiple of 16. `out`: `size` bytes
  /// of the result, fewer than 2^31, aligned to 16.
  SEPCONV_HOST_DEVICE StreamDecoder(const std::byte* stream, std::int64_t bytes, BlockCodec codec,
                                    std::byte* out, std::int64_t size, StreamTables& tables)
      : stream_(reinterpret_cast<const std::uint8_t*>(stream)),
        bytes_(bytes < kMaxStreamBytes ? static_cast<std::uint32_t>(bytes) : 0),
        is_gzip_(codec == BlockCodec::gzip),
        out_(reinterpret_cast<std::uint8_t*>(out)),
        size_(static_cast<std::uint32_t>(size)),
        tables_(tables),
        lane_(ThreadGroup::lane()),
        bits_(stream_, bytes_, tables.ring) {}

  /// Decodes the stream. Returns whether it is valid and has exactly that size; the caller checks the
  /// checksum. Streams with codes that encoders do not produce are rejected, even if a lenient decoder would
  /// accept them.
  SEPCONV_HOST_DEVICE bool run() {
    if (is_gzip_ ? !gzip_header() : !zlib_header()) return false;
    for (bool last = false; !last;) {
      last = bits_.read(1) != 0;
      const unsigned kind = bits_.read(2);
      const bool good = kind == 0   ? copy_stored()
                        : kind == 3 ? false
                                    : read_codes(kind == 1) && decode_symbols();
      if (!good || bits_.used() > bytes_ * 8) return false;
    }
    const std::uint32_t end = bits_.used_bytes();
    const bool ends = is_gzip_ ? end + 8 == bytes_ : end + 4 <= bytes_;
    if (position_ != size_ || !ends || !flush_some()) return false;
    flush(position_ - flushed_);
    const std::uint8_t* const tail = stream_ + end;
    checksum_ = is_gzip_ ? little_endian_32(tail) : big_endian_32(tail);
    return !is_gzip_ || little_endian_32(tail + 4) == size_;
  }

  SEPCONV_HOST_DEVICE std::uint32_t checksum() const { return checksum_; }

 private:
  static constexpr std::int64_t kMaxStreamBytes = 1 << 28;  // bit positions have 32 bits
  static constexpr unsigned kFlush = 2048;                  // bytes copied to the result in one step
  static constexpr unsigned kMaxMatch = 258;

  static SEPCONV_HOST_DEVICE std::uint32_t little_endian_32(const std::uint8_t* at) {
    return at[0] | std::uint32_t{at[1]} << 8 | std::uint32_t{at[2]} << 16 | std::uint32_t{at[3]} << 24;
  }
  static SEPCONV_HOST_DEVICE std::uint32_t big_endian_32(const std::uint8_t* at) {
    return at[3] | std::uint32_t{at[2]} << 8 | std::uint32_t{at[1]} << 16 | std::uint32_t{at[0]} << 24;
  }

  SEPCONV_HOST_DEVICE bool zlib_header() {
    if (bytes_ < 6) return false;
    bits_.seek(0);
    const unsigned header = bits_.read(16);
    const unsigned method = header & 0xFF, flags = header >> 8;
    return (method & 15) == 8 && method >> 4 <= 7 && (method << 8 | flags) % 31 == 0 && (flags & 32) == 0;
  }
  /// Accepts only a header without a name or other optional fields.
  SEPCONV_HOST_DEVICE bool gzip_header() {
    constexpr unsigned kMagicOfDeflate = 0x088B1F, kHeader = 10, kTail = 8;
    if (bytes_ <= kHeader + kTail || little_endian_32(stream_) != kMagicOfDeflate) return false;
    bits_.seek(kHeader);
    return true;
  }

  // The result is written to the window first.

  /// Copies the next `count` bytes from the window to the result.
  SEPCONV_HOST_DEVICE void flush(unsigned count) {
    group_.sync();
    const std::uint8_t* const from = tables_.window + flushed_ % kWindow;  // kFlush divides the window
    std::uint8_t* const to = out_ + flushed_;
    const unsigned vectors = count / 16;
    SEPCONV_ROLLED
    for (unsigned i = lane_; i < vectors; i += ThreadGroup::kLanes) copy_16_bytes(from + 16 * i, to + 16 * i);
    SEPCONV_ROLLED
    for (unsigned i = vectors * 16 + lane_; i < count; i += ThreadGroup::kLanes) to[i] = from[i];
    group_.sync();
    flushed_ += count;
  }

  /// Called after at most kMaxMatch bytes. Returns false if the result would overflow.
  SEPCONV_HOST_DEVICE bool flush_some() {
    if (position_ - flushed_ < kFlush) return true;
    if (position_ > size_) return false;
    flush(kFlush);
    return true;
  }

  SEPCONV_HOST_DEVICE bool copy_stored() {
    const std::uint32_t begin = bits_.used_bytes();
    if (begin + 4 > bytes_) return false;
    bits_.seek(begin);
    const unsigned length = bits_.read(16);
    const unsigned inverse = bits_.read(16);
    if ((length ^ inverse) != 0xFFFF || begin + 4 + length > bytes_ || position_ + length > size_)
      return false;
    SEPCONV_ROLLED
    for (unsigned first = 0; first < length; first += 256) {
      const unsigned count = length - first < 256 ? length - first : 256;
      SEPCONV_ROLLED
      for (unsigned i = lane_; i < count; i += ThreadGroup::kLanes)
        tables_.window[(position_ + i) % kWindow] = stream_[begin + 4 + first + i];
      position_ += count;
      if (!flush_some()) return false;
    }
    bits_.seek(begin + 4 + length);
    return true;
  }

  SEPCONV_HOST_DEVICE bool read_codes(bool fixed) {
    if (!fixed) return read_dynamic_codes();
    // Fixed codes (RFC 1951, 3.2.6).
    for (unsigned symbol = lane_; symbol < 288; symbol += ThreadGroup::kLanes)
      tables_.lengths[symbol] = symbol < 144 ? 8 : symbol < 256 ? 9 : symbol < 280 ? 7 : 8;
    for (unsigned i = lane_; i < 32; i += ThreadGroup::kLanes) tables_.lengths[288 + i] = 5;
    return build_tables(tables_, 288, 32, group_);
  }

  /// Reads the code lengths of a dynamic block (RFC 1951, 3.2.7).
  SEPCONV_HOST_DEVICE bool read_dynamic_codes() {
    constexpr unsigned kMaxLengths = 286, kMaxDistances = 30;
    const unsigned lengths = bits_.read(5) + 257, distances = bits_.read(5) + 1,
                   code_length_count = bits_.read(4) + 4;
    if (lengths > kMaxLengths || distances > kMaxDistances) return false;
    std::uint8_t* const code_lengths = tables_.lengths;
    for (unsigned i = lane_; i < 19; i += ThreadGroup::kLanes) code_lengths[i] = 0;
    group_.sync();
    SEPCONV_ROLLED
    for (unsigned i = 0; i < code_length_count; ++i) {
      const unsigned bits = bits_.read(3);
      if (lane_ == 0) code_lengths[code_length_order(i)] = static_cast<std::uint8_t>(bits);
    }
    if (!build_code_length_table(tables_, group_)) return false;
    const unsigned total = lengths + distances;
    unsigned before = 0;
    SEPCONV_ROLLED
    for (unsigned i = 0; i < total;) {
      const unsigned entry = tables_.distances[bits_.peek() % (1U << kLengthBits)];
      bits_.read(entry & 15);
      const unsigned symbol = entry >> 4;
      unsigned count = 1, value = symbol;
      if (symbol == 16) {
        if (i == 0) return false;
        value = before, count = 3 + bits_.read(2);
      } else if (symbol == 17) {
        value = 0, count = 3 + bits_.read(3);
      } else if (symbol == 18) {
        value = 0, count = 11 + bits_.read(7);
      }
      if (i + count > total) return false;
      SEPCONV_ROLLED
      for (unsigned k = lane_; k < count; k += ThreadGroup::kLanes)
        code_lengths[i + k] = static_cast<std::uint8_t>(value);
      before = value;
      i += count;
    }
    group_.sync();
    return code_lengths[256] != 0 && build_tables(tables_, lengths, distances, group_);
  }

  /// Writes the literals of a table entry.
  SEPCONV_HOST_DEVICE void put_literals(std::uint32_t entry) {
    const unsigned literals = entry >> 4 & 3;
    strided_for_few<ThreadGroup>(lane_, literals, [&](unsigned i) {
      tables_.window[(position_ + i) % kWindow] = static_cast<std::uint8_t>(entry >> (8 + 8 * i));
    });
    position_ += literals;
  }

  /// Decodes literals in up to four lookups. Returns false if the next symbol, `entry`, is not a literal or
  /// has a long code; `bits` then begins with that symbol.
  SEPCONV_HOST_DEVICE bool literals(std::uint32_t& entry, std::uint64_t& bits) {
    bits = bits_.peek_64();
    SEPCONV_UNROLLED
    for (int k = 0; k < 4; ++k) {
      entry = tables_.literals[bits % (1U << kLiteralBits)];
      if ((entry & kIsLiteral) == 0) {
        if (k > 1) bits = bits_.peek_64();  // fewer bits remain than a match needs (at most 48)
        return false;
      }
      put_literals(entry);
      bits >>= entry & 15;
      bits_.skip(entry & 15);
    }
    return true;
  }

  /// Decodes the symbols of a block up to its end.
  SEPCONV_HOST_DEVICE bool decode_symbols() {
    std::uint32_t entry;
    std::uint64_t bits;
    for (;;) {
      bits_.fill_if_short();
      if (!flush_some()) return false;
      if (literals(entry, bits)) continue;
      if ((entry & 15) == 0) {
        entry = long_code(static_cast<unsigned>(bits));
        if (entry == 0) return false;
      }
      bits_.skip(entry & 15);
      if ((entry & kIsLiteral) != 0) {
        put_literals(entry);
      } else if ((entry >> 6 & 3) == kEnd) {
        bits_.fill_if_short();
        return position_ <= size_;
      } else if (!copy_match(entry, bits >> (entry & 15))) {
        return false;
      }
    }
  }

  /// The entry of a literal/length symbol with a long code; 0 if the code is invalid.
  SEPCONV_HOST_DEVICE std::uint32_t long_code(unsigned bits) {
    const unsigned found = symbol_of(tables_.literal_code, bits);
    const unsigned symbol = found >> 4, count = found & 15;
    if (found == 0 || symbol > 285) return 0;
    if (symbol > 256) return length_entry(symbol, count);
    return symbol == 256 ? count | kEnd << 6 : count | 1U << 4 | symbol << 8;
  }

  static SEPCONV_HOST_DEVICE unsigned low_bits(std::uint64_t bits, unsigned count) {
    return static_cast<unsigned>(bits) & ((1U << count) - 1);
  }

  /// Decodes a distance and copies the match. `bits` begins after the code of the length.
  SEPCONV_HOST_DEVICE bool copy_match(std::uint32_t entry, std::uint64_t bits) {
    const unsigned extra_bits = entry >> 8 & 7;
    const unsigned length = (entry >> 11) + low_bits(bits, extra_bits);
    bits >>= extra_bits;
    std::uint32_t distance_entry_bits = tables_.distances[bits % (1U << kDistanceBits)];
    if (distance_entry_bits == 0) {
      const unsigned found = symbol_of(tables_.distance_code, static_cast<unsigned>(bits));
      if (found == 0 || found >> 4 > 29) return false;
      distance_entry_bits = distance_entry(found >> 4, found & 15);
    }
    bits >>= distance_entry_bits & 15;
    const unsigned distance = (distance_entry_bits >> 8) + low_bits(bits, distance_entry_bits >> 4 & 15);
    bits_.skip(extra_bits + (distance_entry_bits & 15) + (distance_entry_bits >> 4 & 15));
    if (distance > position_ || position_ + length > size_) return false;
    copy_within_window(distance, length);
    position_ += length;
    return true;
  }

  /// Copies a match. The source is before `position_`; a match that overlaps itself repeats its first period.
  SEPCONV_HOST_DEVICE void copy_within_window(unsigned distance, unsigned length) {
    const unsigned from = position_ - distance;
    group_.sync();
    if (length <= 32 && length <= distance && distance <= kWindow - kMaxMatch) {
      strided_for_few<ThreadGroup>(lane_, length, [&](unsigned i) {
        tables_.window[(position_ + i) % kWindow] = tables_.window[(from + i) % kWindow];
      });
    } else {
      const bool is_flushed = distance > kWindow - kMaxMatch;
      SEPCONV_ROLLED
      for (unsigned i = lane_; i < length; i += ThreadGroup::kLanes) {
        const unsigned source = from + (distance < length ? i % distance : i);
        tables_.window[(position_ + i) % kWindow] =
            is_flushed ? out_[source] : tables_.window[source % kWindow];
      }
    }
    group_.sync();
  }

  const std::uint8_t* stream_;
  std::uint32_t bytes_;
  bool is_gzip_;
  std::uint8_t* out_;
  std::uint32_t size_;
  StreamTables& tables_;
  ThreadGroup group_;
  unsigned lane_;
  StreamBits<ThreadGroup> bits_;
  std::uint32_t position_ = 0, flushed_ = 0;
  std::uint32_t checksum_ = 0;
};

}  // namespace sepconv::deflate
