// A deflate stream (RFC 1951) in a zlib frame (RFC 1950), decoded by one warp. Every lane holds the stream's
// state, so that nothing diverges; tables and copies are shared out among the lanes.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace sepconv::engine {

constexpr unsigned kAllLanes = 0xFFFFFFFFU;
constexpr int kLiteralBits = 11;  // of the stream that are looked up at once
constexpr int kDistanceBits = 8;
constexpr int kPreBits = 7;
constexpr int kMostCodeBits = 15;
// The last bytes of the result, from which nearly all repeats of an image are copied: its row above is near.
constexpr unsigned kWindow = 8192;
constexpr unsigned kFlush = 2048;  // go to the result at once
constexpr unsigned kLongestRepeat = 258;

/// A canonical prefix code: how many codes have each length, and the symbols in the order of their codes.
template <int kSymbols>
struct PrefixCode {
  std::uint16_t counts[kMostCodeBits + 1];
  std::uint16_t next[kMostCodeBits + 1];
  std::uint16_t symbols[kSymbols];
};

struct alignas(16) InflateTables {
  std::uint8_t window[kWindow];  // byte i of the result is window[i % kWindow]
  // Of kLiteralBits of the stream: in bits 0 and 1 how many literals they are, in 2 to 5 how many bits those
  // take, from bit 8 on the literals. None: bits 6 and 7 are a Kind; of a length bits 8 to 10 are its extra
  // bits, and its base is above.
  std::uint32_t literals[1 << kLiteralBits];
  // Bits 0 to 3: bits of the code, 0 for a longer one or none; 4 to 7: extra bits; above: base.
  std::uint32_t distances[1 << kDistanceBits];
  std::uint8_t lengths[320];  // of the codes, as a block tells them
  PrefixCode<288> literal_code;
  PrefixCode<32> distance_code;
};

class WarpInflater {
 public:
  /// `stream`: `bytes` of it, at a multiple of 4 and fewer than 2^31; `out`: `size` bytes of the result, as
  /// few, at a multiple of 16.
  __device__ WarpInflater(const std::uint32_t* stream, std::int64_t bytes, std::uint8_t* out,
                          std::int64_t size, InflateTables& tables)
      : stream_(stream),
        bytes_(static_cast<std::uint32_t>(bytes)),
        out_(out),
        size_(static_cast<std::uint32_t>(size)),
        tables_(tables),
        lane_(threadIdx.x & 31) {}

  /// Whether the stream is sound and of exactly that size; its checksum is still to be looked at. Streams
  /// with codes that encoders do not make are not taken, even where a lenient decoder would.
  __device__ bool run() {
    if (bytes_ < 6) return false;
    seek(0);
    const unsigned header = take(16);
    const unsigned method = header & 0xFF, flags = header >> 8;
    if ((method & 15) != 8 || method >> 4 > 7 || (method << 8 | flags) % 31 != 0 || (flags & 32) != 0)
      return false;
    for (bool last = false; !last;) {
      refill();
      last = take(1) != 0;
      const unsigned kind = take(2);
      const bool good = kind == 0   ? stored()
                        : kind == 1 ? fixed_codes() && coded()
                        : kind == 2 ? told_codes() && coded()
                                    : false;
      if (!good || overrun()) return false;
    }
    const auto end = static_cast<std::uint32_t>((consumed() + 7) / 8);
    if (at_ != size_ || end + 4 > bytes_) return false;
    flush(at_ - flushed_);
    const auto* const tail = reinterpret_cast<const std::uint8_t*>(stream_) + end;
    checksum_ = static_cast<std::uint32_t>(tail[0]) << 24 | static_cast<std::uint32_t>(tail[1]) << 16 |
                static_cast<std::uint32_t>(tail[2]) << 8 | tail[3];
    return true;
  }

  __device__ std::uint32_t checksum() const { return checksum_; }

 private:
  enum Kind : unsigned { kLong = 0, kEnd = 1, kLength = 2 };

  // The stream's words pass through two registers of each lane: 32 of them that are being used, and the next.

  __device__ std::uint32_t load(std::uint32_t line) const {
    const std::uint32_t word = line * 32 + lane_;
    return word * 4 < bytes_ ? __ldg(stream_ + word) : 0;
  }

  /// Goes on with this byte.
  __device__ void seek(std::uint32_t byte) {
    const std::uint32_t word = byte / 4;
    line_ = word / 32;
    used_ = static_cast<int>(word % 32);
    words_ = load(line_);
    next_words_ = load(line_ + 1);
    bits_ = 0;
    count_ = 0;
    refill();
    drop(static_cast<int>(byte % 4) * 8);
    refill();
  }

  /// More than 32 bits are held then.
  __device__ void refill() {
    if (count_ > 32) return;
    bits_ |= static_cast<std::uint64_t>(__shfl_sync(kAllLanes, words_, used_)) << count_;
    count_ += 32;
    if (++used_ < 32) return;
    used_ = 0;
    ++line_;
    words_ = next_words_;
    next_words_ = load(line_ + 1);
  }

  __device__ void drop(int count) {
    bits_ >>= count;
    count_ -= count;
  }

  __device__ unsigned peek(int count) const { return static_cast<unsigned>(bits_) & ((1U << count) - 1); }

  /// At most 16.
  __device__ unsigned take(int count) {
    const unsigned value = peek(count);
    drop(count);
    return value;
  }

  __device__ std::int64_t consumed() const { return (std::int64_t{line_} * 32 + used_) * 32 - count_; }
  __device__ bool overrun() const { return consumed() > std::int64_t{bytes_} * 8; }

  // The result passes through the window.

  /// The next `count` bytes that are not yet in the result go there.
  __device__ void flush(unsigned count) {
    __syncwarp();
    const std::uint8_t* const from = tables_.window + flushed_ % kWindow;  // kFlush divides the window
    std::uint8_t* const to = out_ + flushed_;
    const unsigned vectors = count / 16;
    for (unsigned i = lane_; i < vectors; i += 32)
      reinterpret_cast<uint4*>(to)[i] = reinterpret_cast<const uint4*>(from)[i];
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
    const auto begin = static_cast<std::uint32_t>((consumed() + 7) / 8);
    if (begin + 4 > bytes_) return false;
    seek(begin);
    const unsigned length = take(16);
    refill();
    const unsigned inverse = take(16);
    if ((length ^ inverse) != 0xFFFF || begin + 4 + length > bytes_ || at_ + length > size_) return false;
    const auto* const from = reinterpret_cast<const std::uint8_t*>(stream_) + begin + 4;
    for (unsigned first = 0; first < length; first += 256) {
      const unsigned count = min(256U, length - first);
      for (unsigned i = lane_; i < count; i += 32) tables_.window[(at_ + i) % kWindow] = from[first + i];
      at_ += count;
      if (!flush_some()) return false;
    }
    seek(begin + 4 + length);
    return true;
  }

  /// RFC 1951, 3.2.6.
  __device__ bool fixed_codes() {
    for (unsigned symbol = lane_; symbol < 288; symbol += 32)
      tables_.lengths[symbol] = symbol < 144 ? 8 : symbol < 256 ? 9 : symbol < 280 ? 7 : 8;
    tables_.lengths[288 + lane_] = 5;
    return make_tables(288, 32);
  }

  /// RFC 1951, 3.2.7.
  __device__ bool told_codes() {
    constexpr unsigned kMostLengths = 286, kMostDistances = 30;
    refill();
    const unsigned lengths = take(5) + 257, distances = take(5) + 1, kinds = take(4) + 4;
    if (lengths > kMostLengths || distances > kMostDistances) return false;
    std::uint8_t* const told = tables_.lengths;
    if (lane_ < 19) told[lane_] = 0;
    __syncwarp();
    for (unsigned i = 0; i < kinds; ++i) {
      refill();
      const unsigned bits = take(3);
      if (lane_ == 0) told[order_of(i)] = static_cast<std::uint8_t>(bits);
    }
    __syncwarp();
    if (!sort(tables_.distance_code, told, 19) || !is_complete(tables_.distance_code)) return false;
    std::uint32_t* const table = tables_.distances;  // is made only when these lengths are known
    for (unsigned i = lane_; i < 1U << kPreBits; i += 32) {
      int bits = 0;
      const unsigned symbol = symbol_of(tables_.distance_code, i, kPreBits, bits);
      table[i] = symbol << 4 | static_cast<unsigned>(bits);
    }
    __syncwarp();
    const unsigned all = lengths + distances;
    unsigned before = 0;
    for (unsigned i = 0; i < all;) {
      refill();
      const unsigned entry = table[peek(kPreBits)];
      drop(static_cast<int>(entry & 15));
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
      for (unsigned k = lane_; k < count; k += 32) told[i + k] = static_cast<std::uint8_t>(value);
      before = value;
      i += count;
    }
    __syncwarp();
    if (told[256] == 0) return false;
    return make_tables(lengths, distances);
  }

  /// The order in which lengths of code lengths are told: 16 17 18 0 8 7 9 6 10 5 11 4 12 3 13 2 14 1 15.
  static __device__ unsigned order_of(unsigned i) {
    if (i < 3) return 16 + i;
    const unsigned k = i - 3;
    return k == 0 ? 0 : k % 2 == 1 ? 8 + k / 2 : 8 - k / 2;
  }

  /// Counts and sorts the symbols by the lengths of their codes; false: there are more codes than bits for
  /// them.
  template <int kSymbols>
  __device__ bool sort(PrefixCode<kSymbols>& code, const std::uint8_t* lengths, unsigned symbols) {
    if (lane_ <= kMostCodeBits) code.counts[lane_] = 0;
    __syncwarp();
    // As many times as for the most of symbols: the lanes go together.
    for (unsigned first = 0; first < symbols; first += 32) {
      const unsigned symbol = first + lane_;
      const unsigned length = symbol < symbols ? lengths[symbol] : 0;
      const unsigned same = __match_any_sync(kAllLanes, length);
      if (length != 0 && lane_ == static_cast<unsigned>(__ffs(static_cast<int>(same)) - 1))
        code.counts[length] = static_cast<std::uint16_t>(code.counts[length] + __popc(same));
      __syncwarp();
    }
    unsigned next = 0;
    int open = 1;
    for (int bits = 1; bits <= kMostCodeBits; ++bits) {
      if (lane_ == 0) code.next[bits] = static_cast<std::uint16_t>(next);
      const unsigned count = code.counts[bits];
      next += count;
      open = 2 * open - static_cast<int>(count);
      if (open < 0) return false;
    }
    __syncwarp();
    for (unsigned first = 0; first < symbols; first += 32) {
      const unsigned symbol = first + lane_;
      const unsigned length = symbol < symbols ? lengths[symbol] : 0;
      const unsigned same = __match_any_sync(kAllLanes, length);
      const unsigned rank = __popc(same & ((1U << lane_) - 1));
      const unsigned place = code.next[length] + rank;
      __syncwarp();
      if (length != 0) {
        code.symbols[place] = static_cast<std::uint16_t>(symbol);
        if (rank == 0) code.next[length] = static_cast<std::uint16_t>(place + __popc(same));
      }
      __syncwarp();
    }
    return true;
  }

  template <int kSymbols>
  __device__ bool is_complete(const PrefixCode<kSymbols>& code) const {
    int open = 1;
    for (int bits = 1; bits <= kMostCodeBits; ++bits) open = 2 * open - code.counts[bits];
    return open == 0;
  }

  /// No distance at all, or one of one bit, as a block without repeats or with one distance has them.
  __device__ bool has_few_distances() const {
    int used = 0;
    for (int bits = 1; bits <= kMostCodeBits; ++bits) used += tables_.distance_code.counts[bits];
    return used == 0 || (used == 1 && tables_.distance_code.counts[1] == 1);
  }

  /// The symbol whose code `stream` begins with, and the bits of that; 0 bits where there is none of so many
  /// bits.
  template <int kSymbols>
  static __device__ unsigned symbol_of(const PrefixCode<kSymbols>& code, unsigned stream, int most_bits,
                                       int& bits) {
    int value = 0, first = 0, index = 0;
    for (bits = 1; bits <= most_bits; ++bits) {
      value |= static_cast<int>(stream & 1);
      stream >>= 1;
      const int count = code.counts[bits];
      if (value - count < first) return code.symbols[index + value - first];
      index += count;
      first = (first + count) << 1;
      value <<= 1;
    }
    bits = 0;
    return 0;
  }

  static __device__ std::uint32_t length_entry(unsigned symbol, int bits) {
    const unsigned k = symbol - 257;
    const unsigned extra = k < 8 || k == 28 ? 0 : (k >> 2) - 1;
    const unsigned base = k < 8 ? k + 3 : k == 28 ? 258 : ((4 + (k & 3)) << extra) + 3;
    return static_cast<unsigned>(bits) << 2 | kLength << 6 | extra << 8 | base << 11;
  }

  static __device__ std::uint32_t distance_entry(unsigned symbol, int bits) {
    const unsigned extra = symbol < 4 ? 0 : (symbol >> 1) - 1;
    const unsigned base = symbol < 4 ? symbol + 1 : ((2 + (symbol & 1)) << extra) + 1;
    return static_cast<unsigned>(bits) | extra << 4 | base << 8;
  }

  __device__ std::uint32_t literal_entry(unsigned stream) const {
    int bits = 0;
    const unsigned symbol = symbol_of(tables_.literal_code, stream, kLiteralBits, bits);
    if (bits == 0) return kLong << 6;
    if (symbol == 256) return static_cast<unsigned>(bits) << 2 | kEnd << 6;
    if (symbol > 256) return symbol > 285 ? kLong << 6 : length_entry(symbol, bits);
    unsigned literals = symbol << 8, count = 1;
    int all = bits;
    for (; count < 3; ++count) {
      const unsigned next = symbol_of(tables_.literal_code, stream >> all, kLiteralBits - all, bits);
      if (bits == 0 || next >= 256) break;
      literals |= next << (8 + 8 * count);
      all += bits;
    }
    return literals | static_cast<unsigned>(all) << 2 | count;
  }

  __device__ bool make_tables(unsigned lengths, unsigned distances) {
    __syncwarp();
    if (!sort(tables_.literal_code, tables_.lengths, lengths) || !is_complete(tables_.literal_code))
      return false;
    if (!sort(tables_.distance_code, tables_.lengths + lengths, distances)) return false;
    if (!is_complete(tables_.distance_code) && !has_few_distances()) return false;
    for (unsigned i = lane_; i < 1U << kLiteralBits; i += 32) tables_.literals[i] = literal_entry(i);
    for (unsigned i = lane_; i < 1U << kDistanceBits; i += 32) {
      int bits = 0;
      const unsigned symbol = symbol_of(tables_.distance_code, i, kDistanceBits, bits);
      tables_.distances[i] = bits == 0 || symbol > 29 ? 0 : distance_entry(symbol, bits);
    }
    __syncwarp();
    return true;
  }

  __device__ std::uint32_t look_up() const { return tables_.literals[peek(kLiteralBits)]; }

  /// The literals of an entry.
  __device__ void put(std::uint32_t entry) {
    const unsigned literals = entry & 3;
    if (lane_ < literals)
      tables_.window[(at_ + lane_) % kWindow] = static_cast<std::uint8_t>(entry >> (8 + 8 * lane_));
    drop(static_cast<int>(entry >> 2 & 15));
    at_ += literals;
  }

  /// The symbols of a block, up to its end.
  __device__ bool coded() {
    for (;;) {
      refill();
      std::uint32_t entry = look_up();
      if ((entry & 3) != 0) {
        put(entry);
        entry = look_up();
        if ((entry & 3) != 0) {
          put(entry);
          if (!flush_some()) return false;
          continue;
        }
      }
      // More than 21 bits are left, and a length takes at most 20.
      if ((entry >> 6 & 3) == kLong) {
        int bits = 0;
        const unsigned symbol = symbol_of(tables_.literal_code, peek(kMostCodeBits), kMostCodeBits, bits);
        if (bits == 0 || symbol > 285) return false;
        if (symbol < 256) {
          put(static_cast<unsigned>(bits) << 2 | symbol << 8 | 1);
          if (!flush_some()) return false;
          continue;
        }
        entry = symbol == 256 ? static_cast<unsigned>(bits) << 2 | kEnd << 6 : length_entry(symbol, bits);
      }
      drop(static_cast<int>(entry >> 2 & 15));
      if ((entry >> 6 & 3) == kEnd) return at_ <= size_;
      const unsigned length = (entry >> 11) + take(static_cast<int>(entry >> 8 & 7));
      refill();
      if (!repeat(length) || !flush_some()) return false;
    }
  }

  __device__ bool repeat(unsigned length) {
    std::uint32_t entry = tables_.distances[peek(kDistanceBits)];
    if (entry == 0) {
      int bits = 0;
      const unsigned symbol = symbol_of(tables_.distance_code, peek(kMostCodeBits), kMostCodeBits, bits);
      if (bits == 0 || symbol > 29) return false;
      entry = distance_entry(symbol, bits);
    }
    drop(static_cast<int>(entry & 15));
    const unsigned distance = (entry >> 8) + take(static_cast<int>(entry >> 4 & 15));
    if (distance > at_ || at_ + length > size_) return false;
    __syncwarp();
    const unsigned from = at_ - distance;
    // What is copied lies before `at_`: of a repeat that overlaps itself its first period.
    if (distance < length) {
      for (unsigned i = lane_; i < length; i += 32)
        tables_.window[(at_ + i) % kWindow] = tables_.window[(from + i % distance) % kWindow];
    } else if (distance <= kWindow - kLongestRepeat) {
      for (unsigned i = lane_; i < length; i += 32)
        tables_.window[(at_ + i) % kWindow] = tables_.window[(from + i) % kWindow];
    } else {  // long flushed
      for (unsigned i = lane_; i < length; i += 32) tables_.window[(at_ + i) % kWindow] = out_[from + i];
    }
    __syncwarp();
    at_ += length;
    return true;
  }

  const std::uint32_t* stream_;
  std::uint32_t bytes_;
  std::uint8_t* out_;
  std::uint32_t size_;
  InflateTables& tables_;
  unsigned lane_;
  std::uint32_t line_ = 0;
  std::uint32_t words_ = 0, next_words_ = 0;
  int used_ = 0;
  std::uint64_t bits_ = 0;
  int count_ = 0;
  std::uint32_t at_ = 0, flushed_ = 0;
  std::uint32_t checksum_ = 0;
};

}  // namespace sepconv::engine
