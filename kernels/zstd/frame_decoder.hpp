// Decodes a zstd frame (RFC 8878) by a group of threads: a GPU's warp, or one host thread. The literals of a
// block have four streams, which up to four lanes decode.
#pragma once

#include "core/host_device.hpp"
#include "core/zstd/checksum.hpp"
#include "core/zstd/frame.hpp"
#include "kernels/zstd/sequences.hpp"

namespace sepconv::zstd {

inline constexpr std::uint32_t kMaxBlockBytes = 128 << 10;  // decoded

template <class ThreadGroup>
class FrameDecoder {
 public:
  /// `frame`: `bytes` bytes. `out`: `size` bytes for the result. Both are fewer than 2^31. `literals`: a
  /// buffer of the smaller of kMaxBlockBytes and `size`. On a GPU `out` is aligned to 8 bytes.
  SEPCONV_HOST_DEVICE FrameDecoder(const std::byte* frame, std::int64_t bytes, std::byte* out,
                                   std::int64_t size, std::byte* literals, Tables& tables)
      : in_(reinterpret_cast<const std::uint8_t*>(frame)),
        bytes_(bytes < kMaxBytes ? static_cast<std::uint32_t>(bytes) : 0),
        out_(reinterpret_cast<std::uint8_t*>(out)),
        size_(size < kMaxBytes ? static_cast<std::uint32_t>(size) : 0),
        literal_buffer_(reinterpret_cast<std::uint8_t*>(literals)),
        tables_(tables) {}

  /// Decodes the frame. Returns whether it is one frame of exactly this many bytes that conforms to RFC 8878,
  /// with a correct checksum if it has one. Frames with a dictionary, and those that only lenient decoders
  /// accept, are rejected.
  SEPCONV_HOST_DEVICE bool run() {
    if (!read_frame_header()) return false;
    for (bool last = false; !last;) {
      if (bytes_ - at_ < 3) return false;
      const std::uint32_t block_header = little(in_ + at_, 3), bytes = block_header >> 3,
                          kind = block_header >> 1 & 3;
      at_ += 3;
      last = (block_header & 1) != 0;
      if (bytes > max_block_bytes_ || (kind == 1 ? 1 : bytes) > bytes_ - at_) return false;
      const bool good = kind == 0   ? raw_block(bytes)
                        : kind == 1 ? rle_block(bytes)
                        : kind == 2 ? compressed_block(in_ + at_, bytes)
                                    : false;
      if (!good) return false;
      at_ += kind == 1 ? 1 : bytes;
    }
    return written_ == size_ && checksum_matches();
  }

 private:
  static constexpr std::int64_t kMaxBytes = std::int64_t{1} << 31;

  /// Reads the frame header (3.1.1.1).
  SEPCONV_HOST_DEVICE bool read_frame_header() {
    constexpr unsigned kMaxWindowLog = 27;  // the default limit of decoders
    if (bytes_ < 6 || little(in_, 4) != kMagic) return false;
    const unsigned descriptor = in_[4];
    const bool has_window = (descriptor & 32) == 0;
    if ((descriptor & 11) != 0) return false;  // reserved, dictionary
    is_checked_ = (descriptor & kHasChecksum) != 0;
    at_ = 5;
    if (has_window) {
      const unsigned log = 10 + (in_[at_] >> 3);
      if (log > kMaxWindowLog) return false;
      max_block_bytes_ = (1U << log) + (1U << log) / 8 * (in_[at_] & 7);
      ++at_;
    }
    const unsigned size_flag = descriptor >> 6;
    const unsigned bytes = size_flag == 0 ? (has_window ? 0 : 1) : 1U << size_flag;
    if (bytes > bytes_ - at_) return false;
    if (bytes > 0) {
      const std::uint32_t size = little(in_ + at_, bytes < 4 ? bytes : 4) + (bytes == 2 ? 256 : 0);
      if (size != size_ || (bytes == 8 && little(in_ + at_ + 4, 4) != 0)) return false;
      if (!has_window) max_block_bytes_ = size;
    }
    at_ += bytes;
    max_block_bytes_ = max_block_bytes_ < kMaxBlockBytes ? max_block_bytes_ : kMaxBlockBytes;
    return true;
  }

  /// Checks what follows the last block.
  SEPCONV_HOST_DEVICE bool checksum_matches() const {
    if (!is_checked_) return at_ == bytes_;
    return bytes_ - at_ == kChecksumBytes && little(in_ + at_, 4) == checksum_of(group_, out_, size_);
  }

  SEPCONV_HOST_DEVICE bool raw_block(std::uint32_t bytes) {
    if (bytes > size_ - written_) return false;
    copy_bytes(group_, in_ + at_, bytes, out_ + written_);
    written_ += bytes;
    group_.sync();
    return true;
  }
  SEPCONV_HOST_DEVICE bool rle_block(std::uint32_t bytes) {
    if (bytes > size_ - written_) return false;
    fill(in_[at_], bytes, out_ + written_);
    written_ += bytes;
    return true;
  }
  SEPCONV_HOST_DEVICE void fill(std::uint8_t value, std::uint32_t bytes, std::uint8_t* to) {
    for (std::uint32_t i = group_.lane(); i < bytes; i += ThreadGroup::kLanes) to[i] = value;
    group_.sync();
  }

  /// Decodes a compressed block (3.1.1.2).
  SEPCONV_HOST_DEVICE bool compressed_block(const std::uint8_t* from, std::uint32_t bytes) {
    std::uint32_t used = bytes;
    if (!read_literals(from, used)) return false;
    from += used, bytes -= used;
    if (bytes == 0) return false;
    const std::uint32_t begin = written_;
    std::uint32_t count = from[0], header_bytes = 1;
    if (count >= 128) {
      header_bytes = count == 255 ? 3 : 2;
      if (bytes < header_bytes) return false;
      count = count == 255 ? little(from + 1, 2) + 0x7F00 : (count - 128) * 256 + from[1];
      if (count == 0) return false;
    }
    if (count == 0 ? bytes != 1 : !sequences(from + header_bytes, bytes - header_bytes, count, begin))
      return false;
    if (literals_ > size_ - written_) return false;
    copy_bytes(group_, literal_, literals_, out_ + written_);
    written_ += literals_;
    group_.sync();
    return written_ - begin <= max_block_bytes_;
  }

  /// Reads the literals section (3.1.1.3.1). Sets `bytes` to its size.
  SEPCONV_HOST_DEVICE bool read_literals(const std::uint8_t* from, std::uint32_t& bytes) {
    if (bytes == 0) return false;
    const unsigned kind = from[0] & 3, format = from[0] >> 2 & 3;
    const bool coded = kind >= 2;
    const std::uint32_t header_bytes = coded         ? (format < 2 ? 3 : format + 2)
                                       : format == 1 ? 2
                                       : format == 3 ? 3
                                                     : 1;
    if (header_bytes > bytes) return false;
    const std::uint64_t fields = little(from, header_bytes < 4 ? header_bytes : 4) |
                                 (header_bytes == 5 ? std::uint64_t{from[4]} << 32 : 0);
    const unsigned width = coded ? (format < 2 ? 10 : format == 2 ? 14 : 18) : 20;
    const std::uint64_t mask = (1U << width) - 1;
    literals_ = static_cast<std::uint32_t>(fields >> (coded || format % 2 == 1 ? 4 : 3) & mask);
    const std::uint32_t rest = bytes - header_bytes;
    if (literals_ > max_block_bytes_ || literals_ > size_) return false;
    const std::uint32_t stored = coded       ? static_cast<std::uint32_t>(fields >> (4 + width) & mask)
                                 : kind == 0 ? literals_
                                             : 1;
    if (stored > rest) return false;
    bytes = header_bytes + stored;
    from += header_bytes;
    literal_ = kind == 0 ? from : literal_buffer_;
    if (kind == 1) fill(from[0], literals_, literal_buffer_);
    return !coded || decode_literals(from, stored, kind == 2, format == 0 ? 1 : 4);
  }

  SEPCONV_HOST_DEVICE bool decode_literals(const std::uint8_t* from, std::uint32_t bytes, bool has_table,
                                           unsigned streams) {
    if (has_table) {
      std::uint32_t table_bytes = bytes;
      if (group_.lane() == 0)
        tables_.result = build_literal_table(tables_, from, table_bytes), tables_.header_bytes = table_bytes;
      group_.sync();
      literal_log_ = tables_.result, table_bytes = tables_.header_bytes;
      group_.sync();
      from += table_bytes, bytes -= table_bytes;
    }
    if (literal_log_ == 0) return false;
    std::uint32_t literals_per_stream = literals_, jumps = 0;
    if (streams == 4) {
      if (bytes < kJumpTableBytes || literals_ < kJumpTableBytes) return false;
      literals_per_stream = (literals_ + 3) / 4, jumps = kJumpTableBytes;
    }
    bool good = true;
    for (unsigned stream = group_.lane(); stream < streams; stream += ThreadGroup::kLanes) {
      std::uint32_t begin = jumps, size = bytes - jumps;
      for (unsigned i = 0; streams == 4 && i <= stream && good; ++i) {
        const std::uint32_t left = bytes - begin;
        const std::uint32_t stream_bytes = i < 3 ? little(from + std::size_t{2} * i, 2) : left;
        good = stream_bytes <= left;
        size = stream_bytes;
        if (i < stream) begin += stream_bytes;
      }
      const std::uint32_t first = literals_per_stream * stream;
      good = good && first <= literals_ &&
             decode_stream({from + begin, size},
                           stream == 3 || streams == 1 ? literals_ - first : literals_per_stream,
                           literal_buffer_ + first);
    }
    good = group_.all(good);
    group_.sync();
    return good;
  }

  /// Decodes `count` literals of at most BackwardBits::kPeeked bits in total.
  SEPCONV_HOST_DEVICE void put_literals(BackwardBits& bits, unsigned count, std::uint8_t* to) const {
    const unsigned shift = 64 - literal_log_;
    std::uint64_t next = bits.peek();
    unsigned used = 0;
    for (unsigned i = 0; i < count; ++i) {
      const unsigned entry = tables_.literals[next >> shift];
      to[i] = static_cast<std::uint8_t>(entry >> 8);
      next <<= entry & 0xFF;
      used += entry & 0xFF;
    }
    bits.skip(used);
  }

  /// Decodes one stream of Huffman-coded literals (4.2.2). Called by one lane.
  SEPCONV_HOST_DEVICE bool decode_stream(BackwardBits bits, std::uint32_t count, std::uint8_t* to) const {
    constexpr unsigned kAtOnce = BackwardBits::kPeeked / kMaxLiteralLog;
    for (; count >= kAtOnce; count -= kAtOnce, to += kAtOnce) {
      if (bits.left() < 0) return false;
      put_literals(bits, kAtOnce, to);
    }
    put_literals(bits, count, to);
    return bits.left() == 0;
  }

  /// Reads the decoding table of one kind of code (3.1.1.3.2.1). Returns false if it is invalid or missing.
  SEPCONV_HOST_DEVICE bool read_table(unsigned kind, unsigned mode, const std::uint8_t*& from,
                                      std::uint32_t& bytes) {
    if (mode == 3) return has_table_[kind];
    if (group_.lane() == 0) tables_.result = build_table(kind, mode, from, bytes);
    group_.sync();
    const bool good = tables_.result != 0;
    const std::uint32_t table_bytes = tables_.header_bytes;
    logs_[kind] = tables_.log;
    group_.sync();
    if (!good) return false;
    from += table_bytes, bytes -= table_bytes;
    return has_table_[kind] = true;
  }

  /// Called by one lane.
  SEPCONV_HOST_DEVICE bool build_table(unsigned kind, unsigned mode, const std::uint8_t* from,
                                       std::uint32_t bytes) {
    const Kind kind_limits = kind_of(kind);
    State* const states = tables_.states[kind];
    tables_.header_bytes = 0;
    if (mode == 1) {
      if (bytes == 0 || from[0] > kind_limits.max_symbol) return false;
      states[0] = {0, from[0], 0};
      tables_.log = 0, tables_.header_bytes = 1;
      return true;
    }
    unsigned symbols = 0;
    if (mode == 0) {
      symbols = default_symbols(kind), tables_.log = kind_limits.default_log;
      for (unsigned i = 0; i < symbols; ++i)
        tables_.counts[i] = static_cast<std::int16_t>(default_count(kind, i));
    } else {
      symbols = read_fse_counts(from, bytes, kind_limits.max_symbol, kind_limits.max_log, tables_.counts,
                                tables_.log);
      tables_.header_bytes = bytes;
    }
    return symbols > 0 && build_states(tables_, symbols, tables_.log, states);
  }

  SEPCONV_HOST_DEVICE bool sequences(const std::uint8_t* from, std::uint32_t bytes, std::uint32_t count,
                                     std::uint32_t begin) {
    if (bytes == 0 || (from[0] & 3) != 0) return false;
    const unsigned modes = from[0];
    ++from, --bytes;
    for (unsigned kind = 0; kind < 3; ++kind) {
      if (!read_table(kind, modes >> (6 - 2 * kind) & 3, from, bytes)) return false;
    }
    const BackwardBits bits(from, bytes);
    if (bits.left() < 0) return false;
    SequenceReader reader(tables_, logs_, bits);
    for (std::uint32_t i = 0; i < count; ++i) {
      if (i > 0) reader.step();
      const ReadSequence next = reader.read(distances_);
      const std::uint64_t end = std::uint64_t{written_} + next.literals + next.length;
      if (reader.left() < 0 || next.literals > literals_ || end > size_ || end - begin > max_block_bytes_ ||
          next.distance == 0 || next.distance > std::uint64_t{written_} + next.literals)
        return false;
      write_sequence(group_, literal_, next.literals, static_cast<std::uint32_t>(next.distance), next.length,
                     out_ + written_);
      literal_ += next.literals, literals_ -= next.literals;
      written_ = static_cast<std::uint32_t>(end);
    }
    return reader.left() == 0;
  }

  const std::uint8_t* in_;
  std::uint32_t bytes_, at_ = 0;  ///< at_: index of the next byte
  std::uint8_t* out_;
  std::uint32_t size_, written_ = 0;
  std::uint8_t* literal_buffer_;
  Tables& tables_;
  ThreadGroup group_;
  bool is_checked_ = false;
  std::uint32_t max_block_bytes_ = kMaxBlockBytes;  ///< maximum decoded bytes of a block
  const std::uint8_t* literal_ = nullptr;           ///< the block's next literal; literals_: how many remain
  std::uint32_t literals_ = 0;
  unsigned literal_log_ = 0;  ///< 0: no table was read yet
  unsigned logs_[3] = {};
  bool has_table_[3] = {};
  Distances distances_;
};

}  // namespace sepconv::zstd
