// A frame of zstd (RFC 8878), decoded by a team of threads: a GPU's warp, or one of the host. Literals of a
// block have four streams of codes, which as many lanes decode.
#pragma once

#include "core/zstd/checksum.hpp"
#include "core/zstd/frame.hpp"
#include "kernels/zstd/sequences.hpp"

namespace sepconv::zstd {

inline constexpr std::uint32_t kMaxBlockBytes = 128 << 10;  // decoded

template <class Team>
class FrameDecoder {
 public:
  /// `frame`: `bytes` of it; `out`: `size` bytes of the result, of both fewer than 2^31; `literals`: room for
  /// the smaller of kMaxBlockBytes and `size`. On a GPU `out` is at a multiple of 8.
  SEPCONV_HOST_DEVICE FrameDecoder(const std::byte* frame, std::int64_t bytes, std::byte* out,
                                   std::int64_t size, std::byte* literals, Tables& tables)
      : in_(reinterpret_cast<const std::uint8_t*>(frame)),
        bytes_(bytes < kMaxBytes ? static_cast<std::uint32_t>(bytes) : 0),
        out_(reinterpret_cast<std::uint8_t*>(out)),
        size_(size < kMaxBytes ? static_cast<std::uint32_t>(size) : 0),
        room_(reinterpret_cast<std::uint8_t*>(literals)),
        tables_(tables) {}

  /// Whether this is one frame of exactly this many bytes that a decoder must take, whose checksum holds where
  /// it has one. One with a dictionary is not taken, nor what only lenient decoders do.
  SEPCONV_HOST_DEVICE bool run() {
    if (!head()) return false;
    for (bool last = false; !last;) {
      if (bytes_ - at_ < 3) return false;
      const std::uint32_t told = little(in_ + at_, 3), bytes = told >> 3, kind = told >> 1 & 3;
      at_ += 3;
      last = (told & 1) != 0;
      if (bytes > most_ || (kind == 1 ? 1 : bytes) > bytes_ - at_) return false;
      const bool good = kind == 0   ? plain(bytes)
                        : kind == 1 ? repeated(bytes)
                        : kind == 2 ? block(in_ + at_, bytes)
                                    : false;
      if (!good) return false;
      at_ += kind == 1 ? 1 : bytes;
    }
    return made_ == size_ && checksum_holds();
  }

 private:
  static constexpr std::int64_t kMaxBytes = std::int64_t{1} << 31;

  /// 3.1.1.1.
  SEPCONV_HOST_DEVICE bool head() {
    constexpr unsigned kMaxWindowLog = 27;  // what decoders take that are not told otherwise
    if (bytes_ < 6 || little(in_, 4) != kMagic) return false;
    const unsigned descriptor = in_[4];
    const bool has_window = (descriptor & 32) == 0;
    if ((descriptor & 11) != 0) return false;  // reserved, dictionary
    is_checked_ = (descriptor & kHasChecksum) != 0;
    at_ = 5;
    if (has_window) {
      const unsigned log = 10 + (in_[at_] >> 3);
      if (log > kMaxWindowLog) return false;
      most_ = (1U << log) + (1U << log) / 8 * (in_[at_] & 7);
      ++at_;
    }
    const unsigned told = descriptor >> 6;
    const unsigned bytes = told == 0 ? (has_window ? 0 : 1) : 1U << told;
    if (bytes > bytes_ - at_) return false;
    if (bytes > 0) {
      const std::uint32_t size = little(in_ + at_, bytes < 4 ? bytes : 4) + (bytes == 2 ? 256 : 0);
      if (size != size_ || (bytes == 8 && little(in_ + at_ + 4, 4) != 0)) return false;
      if (!has_window) most_ = size;
    }
    at_ += bytes;
    most_ = most_ < kMaxBlockBytes ? most_ : kMaxBlockBytes;
    return true;
  }

  /// Behind the last block.
  SEPCONV_HOST_DEVICE bool checksum_holds() const {
    if (!is_checked_) return at_ == bytes_;
    return bytes_ - at_ == kChecksumBytes && little(in_ + at_, 4) == checksum_of(team_, out_, size_);
  }

  SEPCONV_HOST_DEVICE bool plain(std::uint32_t bytes) {
    if (bytes > size_ - made_) return false;
    copy_bytes(team_, in_ + at_, bytes, out_ + made_);
    made_ += bytes;
    team_.sync();
    return true;
  }
  SEPCONV_HOST_DEVICE bool repeated(std::uint32_t bytes) {
    if (bytes > size_ - made_) return false;
    fill(in_[at_], bytes, out_ + made_);
    made_ += bytes;
    return true;
  }
  SEPCONV_HOST_DEVICE void fill(std::uint8_t value, std::uint32_t bytes, std::uint8_t* to) {
    for (std::uint32_t i = team_.lane(); i < bytes; i += Team::kLanes) to[i] = value;
    team_.sync();
  }

  /// 3.1.1.2.
  SEPCONV_HOST_DEVICE bool block(const std::uint8_t* from, std::uint32_t bytes) {
    std::uint32_t used = bytes;
    if (!take_literals(from, used)) return false;
    from += used, bytes -= used;
    if (bytes == 0) return false;
    const std::uint32_t begin = made_;
    std::uint32_t count = from[0], head = 1;
    if (count >= 128) {
      head = count == 255 ? 3 : 2;
      if (bytes < head) return false;
      count = count == 255 ? little(from + 1, 2) + 0x7F00 : (count - 128) * 256 + from[1];
      if (count == 0) return false;
    }
    if (count == 0 ? bytes != 1 : !sequences(from + head, bytes - head, count, begin)) return false;
    if (literals_ > size_ - made_) return false;
    copy_bytes(team_, literal_, literals_, out_ + made_);
    made_ += literals_;
    team_.sync();
    return made_ - begin <= most_;
  }

  /// 3.1.1.3.1; `bytes` becomes those of them.
  SEPCONV_HOST_DEVICE bool take_literals(const std::uint8_t* from, std::uint32_t& bytes) {
    if (bytes == 0) return false;
    const unsigned kind = from[0] & 3, format = from[0] >> 2 & 3;
    const bool coded = kind >= 2;
    const std::uint32_t head = coded ? (format < 2 ? 3 : format + 2) : format == 1 ? 2 : format == 3 ? 3 : 1;
    if (head > bytes) return false;
    const std::uint64_t told =
        little(from, head < 4 ? head : 4) | (head == 5 ? std::uint64_t{from[4]} << 32 : 0);
    const unsigned width = coded ? (format < 2 ? 10 : format == 2 ? 14 : 18) : 20;
    const std::uint64_t mask = (1U << width) - 1;
    literals_ = static_cast<std::uint32_t>(told >> (coded || format % 2 == 1 ? 4 : 3) & mask);
    const std::uint32_t rest = bytes - head;
    if (literals_ > most_ || literals_ > size_) return false;
    const std::uint32_t stored = coded       ? static_cast<std::uint32_t>(told >> (4 + width) & mask)
                                 : kind == 0 ? literals_
                                             : 1;
    if (stored > rest) return false;
    bytes = head + stored;
    from += head;
    literal_ = kind == 0 ? from : room_;
    if (kind == 1) fill(from[0], literals_, room_);
    return !coded || decode_literals(from, stored, kind == 2, format == 0 ? 1 : 4);
  }

  SEPCONV_HOST_DEVICE bool decode_literals(const std::uint8_t* from, std::uint32_t bytes, bool has_table,
                                           unsigned streams) {
    if (has_table) {
      std::uint32_t told = bytes;
      if (team_.lane() == 0) tables_.made = make_literals(tables_, from, told), tables_.told = told;
      team_.sync();
      literal_log_ = tables_.made, told = tables_.told;
      team_.sync();
      from += told, bytes -= told;
    }
    if (literal_log_ == 0) return false;
    std::uint32_t each = literals_, jumps = 0;
    if (streams == 4) {
      if (bytes < kJumpBytes || literals_ < kJumpBytes) return false;
      each = (literals_ + 3) / 4, jumps = kJumpBytes;
    }
    bool good = true;
    for (unsigned stream = team_.lane(); stream < streams; stream += Team::kLanes) {
      std::uint32_t begin = jumps, size = bytes - jumps;
      for (unsigned i = 0; streams == 4 && i <= stream && good; ++i) {
        const std::uint32_t left = bytes - begin;
        const std::uint32_t own = i < 3 ? little(from + std::size_t{2} * i, 2) : left;
        good = own <= left;
        size = own;
        if (i < stream) begin += own;
      }
      const std::uint32_t first = each * stream;
      good = good && first <= literals_ &&
             decode_stream({from + begin, size}, stream == 3 || streams == 1 ? literals_ - first : each,
                           room_ + first);
    }
    good = team_.all(good);
    team_.sync();
    return good;
  }

  /// This many literals, which take at most BackwardBits::kPeeked bits.
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

  /// Literals by their codes (4.2.2), one lane's work.
  SEPCONV_HOST_DEVICE bool decode_stream(BackwardBits bits, std::uint32_t count, std::uint8_t* to) const {
    constexpr unsigned kAtOnce = BackwardBits::kPeeked / kMaxLiteralLog;
    for (; count >= kAtOnce; count -= kAtOnce, to += kAtOnce) {
      if (bits.left() < 0) return false;
      put_literals(bits, kAtOnce, to);
    }
    put_literals(bits, count, to);
    return bits.left() == 0;
  }

  /// 3.1.1.3.2.1: what the codes of a kind are looked up in; false: there is nothing such.
  SEPCONV_HOST_DEVICE bool take_table(unsigned kind, unsigned mode, const std::uint8_t*& from,
                                      std::uint32_t& bytes) {
    if (mode == 3) return has_table_[kind];
    if (team_.lane() == 0) tables_.made = make_table(kind, mode, from, bytes);
    team_.sync();
    const bool good = tables_.made != 0;
    const std::uint32_t told = tables_.told;
    logs_[kind] = tables_.log;
    team_.sync();
    if (!good) return false;
    from += told, bytes -= told;
    return has_table_[kind] = true;
  }

  /// One lane's work.
  SEPCONV_HOST_DEVICE bool make_table(unsigned kind, unsigned mode, const std::uint8_t* from,
                                      std::uint32_t bytes) {
    const Kind facts = kind_of(kind);
    State* const states = tables_.states[kind];
    tables_.told = 0;
    if (mode == 1) {
      if (bytes == 0 || from[0] > facts.max_symbol) return false;
      states[0] = {0, from[0], 0};
      tables_.log = 0, tables_.told = 1;
      return true;
    }
    unsigned symbols = 0;
    if (mode == 0) {
      symbols = usual_symbols(kind), tables_.log = facts.usual_log;
      for (unsigned i = 0; i < symbols; ++i)
        tables_.counts[i] = static_cast<std::int16_t>(usual_count(kind, i));
    } else {
      symbols = read_fse_counts(from, bytes, facts.max_symbol, facts.max_log, tables_.counts, tables_.log);
      tables_.told = bytes;
    }
    return symbols > 0 && make_states(tables_, symbols, tables_.log, states);
  }

  SEPCONV_HOST_DEVICE bool sequences(const std::uint8_t* from, std::uint32_t bytes, std::uint32_t count,
                                     std::uint32_t begin) {
    if (bytes == 0 || (from[0] & 3) != 0) return false;
    const unsigned modes = from[0];
    ++from, --bytes;
    for (unsigned kind = 0; kind < 3; ++kind) {
      if (!take_table(kind, modes >> (6 - 2 * kind) & 3, from, bytes)) return false;
    }
    const BackwardBits bits(from, bytes);
    if (bits.left() < 0) return false;
    SequenceReader reader(tables_, logs_, bits);
    for (std::uint32_t i = 0; i < count; ++i) {
      if (i > 0) reader.step();
      const ReadSequence next = reader.take(distances_);
      const std::uint64_t made = std::uint64_t{made_} + next.literals + next.length;
      if (reader.left() < 0 || next.literals > literals_ || made > size_ || made - begin > most_ ||
          next.distance == 0 || next.distance > std::uint64_t{made_} + next.literals)
        return false;
      put_sequence(team_, literal_, next.literals, static_cast<std::uint32_t>(next.distance), next.length,
                   out_ + made_);
      literal_ += next.literals, literals_ -= next.literals;
      made_ = static_cast<std::uint32_t>(made);
    }
    return reader.left() == 0;
  }

  const std::uint8_t* in_;
  std::uint32_t bytes_, at_ = 0;  ///< at_: the next
  std::uint8_t* out_;
  std::uint32_t size_, made_ = 0;
  std::uint8_t* room_;
  Tables& tables_;
  Team team_;
  bool is_checked_ = false;
  std::uint32_t most_ = kMaxBlockBytes;    ///< bytes that a block has
  const std::uint8_t* literal_ = nullptr;  ///< of the block, the next, and how many there are
  std::uint32_t literals_ = 0;
  unsigned literal_log_ = 0;  ///< 0: there was no table yet
  unsigned logs_[3] = {};
  bool has_table_[3] = {};
  Distances distances_;
};

}  // namespace sepconv::zstd
