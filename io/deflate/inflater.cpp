#include "io/deflate/inflater.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>

#include "core/error.hpp"

namespace sepconv::deflate {
namespace {

constexpr std::size_t kPassedBytes = 16 << 10;  // of a stream of more than is wanted, at once
constexpr std::size_t kHeaderBytes = 2, kChecksumBytes = 4;
/// Shorter streams do not pay for the tables.
constexpr std::size_t kMinBytes = 2048;

/// Bits of the codes of a block.
struct CodeBits {
  std::array<std::uint8_t, kMaxLengths + kMaxDistances> bits;
  std::size_t length_count = 0, distance_count = 0;

  std::span<const std::uint8_t> lengths() const noexcept { return std::span(bits).first(length_count); }
  std::span<const std::uint8_t> distances() const noexcept {
    return std::span(bits).subspan(length_count, distance_count);
  }
};

/// A header of deflate without a preset dictionary (RFC 1950, 2.2).
bool is_header(std::span<const std::byte> stream) noexcept {
  const auto method = std::to_integer<unsigned>(stream[0]), flags = std::to_integer<unsigned>(stream[1]);
  return (method << 8 | flags) % 31 == 0 && (method & 15) == 8 && method >> 4 <= 7 && (flags & 32) == 0;
}

bool copy_stored(BitSource& source, ByteSink& sink) noexcept {
  source.align();
  source.refill();
  const std::size_t size = source.take(16);
  const bool confirmed = source.take(16) == (size ^ 0xFFFF);
  if (!confirmed || source.overrun()) return false;
  source.align();
  if (size > static_cast<std::size_t>(source.end - source.in) ||
      size > static_cast<std::size_t>(sink.end - sink.at))
    return false;
  if (size > 0) std::memcpy(sink.at, source.in, size);
  source.in += size;
  sink.at += size;
  return true;
}

/// RFC 1951, 3.2.6.
CodeBits fixed_bits() noexcept {
  CodeBits fixed;
  fixed.length_count = kMaxLengths;
  fixed.distance_count = kMaxDistances;
  auto at = std::fill_n(fixed.bits.begin(), 144, std::uint8_t{8});
  at = std::fill_n(at, 112, std::uint8_t{9});
  at = std::fill_n(at, 24, std::uint8_t{7});
  at = std::fill_n(at, 8, std::uint8_t{8});
  std::fill_n(at, kMaxDistances, std::uint8_t{5});
  return fixed;
}

/// RFC 1951, 3.2.7.
bool take_bits(BitSource& source, CodeBits& codes) noexcept {
  source.refill();
  codes.length_count = 257 + source.take(5);
  codes.distance_count = 1 + source.take(5);
  const std::size_t kinds = 4 + source.take(4), count = codes.length_count + codes.distance_count;
  std::array<std::uint8_t, kCodeLengthSymbols> of_bits{};
  for (std::size_t i = 0; i < kinds; ++i) {
    source.refill();
    of_bits[static_cast<std::size_t>(code_length_order(static_cast<int>(i)))] =
        static_cast<std::uint8_t>(source.take(3));
  }
  BitsTable table;
  if (!make_table(of_bits, table)) return false;
  for (std::size_t at = 0; at < count;) {
    source.refill();
    if (source.overrun()) return false;
    const Entry entry = table.entries[source.held & BitsTable::kMask];
    source.drop(entry.bits());
    const auto symbol = static_cast<std::uint8_t>(entry.bytes());
    if (symbol < 16) {
      codes.bits[at++] = symbol;
      continue;
    }
    if (symbol == 16 && at == 0) return false;
    const unsigned run = symbol == 16   ? 3 + source.take(2)
                         : symbol == 17 ? 3 + source.take(3)
                                        : 11 + source.take(7);
    if (run > count - at) return false;
    std::fill_n(codes.bits.begin() + static_cast<std::ptrdiff_t>(at), run,
                symbol == 16 ? codes.bits[at - 1] : std::uint8_t{0});
    at += run;
  }
  return true;
}

/// Whether nine of ten symbols are bytes, as the codes were made for them: with fewer, tables of several do
/// not pay (measured, docs/measurements/2026-11-23-deflate.md).
bool are_mostly_bytes(const CodeBits& codes) noexcept {
  double share = 0;
  for (std::size_t byte = 0; byte < 256; ++byte)
    if (codes.bits[byte] > 0) share += 1.0 / static_cast<double>(1u << codes.bits[byte]);
  return share >= 0.9;
}

/// For a stream of more than its block: whether its checksum is right, as one that was damaged often goes on.
InflateStatus look_behind(std::span<const std::byte> stream, std::size_t max_bytes) {
  z_stream zlib{};
  if (inflateInit(&zlib) != Z_OK) throw OutOfMemory("no memory for a deflate decoder; ask for fewer threads");
  std::array<Bytef, kPassedBytes> passed;
  zlib.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(stream.data()));
  zlib.avail_in = static_cast<uInt>(stream.size());
  int result = Z_OK;
  while (result == Z_OK && zlib.total_out <= max_bytes) {
    zlib.next_out = passed.data();
    zlib.avail_out = static_cast<uInt>(passed.size());
    result = ::inflate(&zlib, Z_NO_FLUSH);
  }
  inflateEnd(&zlib);
  if (result == Z_MEM_ERROR) throw OutOfMemory("no memory for a deflate decoder; ask for fewer threads");
  if (zlib.total_out > max_bytes) return InflateStatus::far_more;
  return result == Z_STREAM_END ? InflateStatus::more : InflateStatus::broken;
}

}  // namespace

Inflater::Inflater()
    : tables_(std::make_unique_for_overwrite<Tables>()), libdeflate_(libdeflate_alloc_decompressor()) {
  if (!libdeflate_) throw OutOfMemory("no memory for a deflate decoder; ask for fewer threads");
}

InflateStatus Inflater::decode(std::span<const std::byte> stream, std::span<std::byte> out,
                               std::size_t max_bytes) {
  was_by_tables_ = stream.size() >= kMinBytes && decode_by_tables(stream, out, true);
  if (was_by_tables_) return InflateStatus::whole;
  switch (libdeflate_zlib_decompress(libdeflate_.get(), stream.data(), stream.size(), out.data(), out.size(),
                                     nullptr)) {
    case LIBDEFLATE_SUCCESS:
      return InflateStatus::whole;
    case LIBDEFLATE_INSUFFICIENT_SPACE:
      return look_behind(stream, max_bytes);
    case LIBDEFLATE_SHORT_OUTPUT:
      return InflateStatus::fewer;
    default:
      return InflateStatus::broken;
  }
}

/// A zlib stream, block after block.
class Inflater::Stream {
 public:
  Stream(Tables& tables, std::span<const std::byte> stream, std::span<std::byte> out,
         bool mostly_bytes) noexcept
      : tables_(tables),
        out_(out),
        mostly_bytes_(mostly_bytes),
        block_{&tables.lengths, &tables.distances, BitSource(blocks_of(stream)),
               ByteSink{out.data(), out.data(), out.data() + out.size()}} {
    if (block_.source.in != nullptr) open_block();
  }

  bool in_block() const noexcept { return state_ == State::in_block; }

  /// Blocks of both in one loop, while both have some.
  static void decode_both(Stream& one, Stream& other) noexcept {
    while (one.in_block() && other.in_block()) {
      const auto steps = decode_two_blocks(one.block_, other.block_);
      one.leave_block(steps[0]);
      other.leave_block(steps[1]);
    }
  }
  void decode_rest() noexcept {
    while (in_block()) leave_block(decode_block(block_));
  }

  /// Behind the last block.
  bool is_whole() noexcept {
    if (state_ != State::at_end || block_.sink.at != block_.sink.end) return false;
    block_.source.align();
    std::uint32_t checksum = 0;
    for (std::size_t i = 0; i < kChecksumBytes; ++i)
      checksum = checksum << 8 | std::to_integer<std::uint32_t>(block_.source.in[i]);
    return checksum == libdeflate_adler32(1, out_.data(), out_.size());
  }

 private:
  enum class State : std::uint8_t { in_block, at_end, refused };

  /// Nothing of what is no such stream.
  static std::span<const std::byte> blocks_of(std::span<const std::byte> stream) noexcept {
    if (stream.size() < kHeaderBytes + kChecksumBytes || !is_header(stream)) return {};
    return stream.subspan(kHeaderBytes, stream.size() - kHeaderBytes - kChecksumBytes);
  }

  void leave_block(Step step) noexcept {
    if (step == Step::fail) state_ = State::refused;
    if (step == Step::end) open_block();
  }

  /// Goes on to the next codes, past blocks that are stored.
  void open_block() noexcept {
    state_ = State::refused;
    while (!is_last_) {
      BitSource& source = block_.source;
      source.refill();
      is_last_ = source.take(1) != 0;
      const unsigned kind = source.take(2);
      if (kind == 3 || source.overrun()) return;
      if (kind == 0) {
        if (!copy_stored(source, block_.sink)) return;
        continue;
      }
      if (take_codes(kind == 2)) state_ = State::in_block;
      return;
    }
    state_ = State::at_end;
  }

  bool take_codes(bool are_told) noexcept {
    CodeBits codes = fixed_bits();
    if (are_told && !take_bits(block_.source, codes)) return false;
    if (mostly_bytes_ && !are_mostly_bytes(codes)) return false;
    mostly_bytes_ = false;  // the first block tells
    return make_table(codes.lengths(), tables_.lengths) && make_table(codes.distances(), tables_.distances);
  }

  Tables& tables_;
  std::span<std::byte> out_;
  bool mostly_bytes_, is_last_ = false;
  State state_ = State::refused;
  BlockStream block_;
};

bool Inflater::decode_by_tables(std::span<const std::byte> stream, std::span<std::byte> out,
                                bool mostly_bytes) noexcept {
  Stream one(*tables_, stream, out, mostly_bytes);
  one.decode_rest();
  return one.is_whole();
}

std::array<bool, 2> Inflater::decode_two(const Coded& one, const Coded& other) noexcept {
  if (std::min(one.stream.size(), other.stream.size()) < kMinBytes) return {false, false};
  Stream first(*one.by.tables_, one.stream, one.out, true);
  Stream second(*other.by.tables_, other.stream, other.out, true);
  Stream::decode_both(first, second);
  first.decode_rest();
  second.decode_rest();
  return {one.by.was_by_tables_ = first.is_whole(), other.by.was_by_tables_ = second.is_whole()};
}

std::int64_t Inflater::memory_bytes() noexcept {
  constexpr std::int64_t kOfLibdeflate = 16 << 10, kOfZlib = 48 << 10;
  return static_cast<std::int64_t>(sizeof(Inflater) + sizeof(Tables)) + kOfLibdeflate + kOfZlib;
}

}  // namespace sepconv::deflate
