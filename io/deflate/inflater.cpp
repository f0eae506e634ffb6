#include "io/deflate/inflater.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>

#include "core/error.hpp"

namespace sepconv::deflate {
namespace {

constexpr std::size_t kSkipBufferBytes = 16 << 10;  // buffer for the excess of a stream
constexpr std::size_t kHeaderBytes = 2, kChecksumBytes = 4;
/// For shorter streams libdeflate is faster than building the tables.
constexpr std::size_t kMinBytes = 2048;

/// Number of bits of each code of a block.
struct CodeBits {
  std::array<std::uint8_t, kMaxLengths + kMaxDistances> bits;
  std::size_t length_count = 0, distance_count = 0;

  std::span<const std::uint8_t> lengths() const noexcept { return std::span(bits).first(length_count); }
  std::span<const std::uint8_t> distances() const noexcept {
    return std::span(bits).subspan(length_count, distance_count);
  }
};

/// Whether this is a zlib header of deflate without a preset dictionary (RFC 1950, 2.2).
bool is_header(std::span<const std::byte> stream) noexcept {
  const auto method = std::to_integer<unsigned>(stream[0]), flags = std::to_integer<unsigned>(stream[1]);
  return (method << 8 | flags) % 31 == 0 && (method & 15) == 8 && method >> 4 <= 7 && (flags & 32) == 0;
}

bool copy_stored(BitSource& source, ByteSink& sink) noexcept {
  source.align();
  source.refill();
  const std::size_t size = source.read(16);
  const bool is_confirmed = source.read(16) == (size ^ 0xFFFF);
  if (!is_confirmed || source.overrun()) return false;
  source.align();
  if (size > static_cast<std::size_t>(source.end - source.in) ||
      size > static_cast<std::size_t>(sink.end - sink.next))
    return false;
  if (size > 0) std::memcpy(sink.next, source.in, size);
  source.in += size;
  sink.next += size;
  return true;
}

/// Fixed codes: RFC 1951, 3.2.6.
CodeBits fixed_bits() noexcept {
  CodeBits fixed;
  fixed.length_count = kMaxLengths;
  fixed.distance_count = kMaxDistances;
  auto next = std::fill_n(fixed.bits.begin(), 144, std::uint8_t{8});
  next = std::fill_n(next, 112, std::uint8_t{9});
  next = std::fill_n(next, 24, std::uint8_t{7});
  next = std::fill_n(next, 8, std::uint8_t{8});
  std::fill_n(next, kMaxDistances, std::uint8_t{5});
  return fixed;
}

/// Dynamic codes: RFC 1951, 3.2.7.
bool read_code_bits(BitSource& source, CodeBits& codes) noexcept {
  source.refill();
  codes.length_count = 257 + source.read(5);
  codes.distance_count = 1 + source.read(5);
  const std::size_t kinds = 4 + source.read(4), count = codes.length_count + codes.distance_count;
  std::array<std::uint8_t, kCodeLengthSymbols> code_length_bits{};
  for (std::size_t i = 0; i < kinds; ++i) {
    source.refill();
    code_length_bits[static_cast<std::size_t>(code_length_order(static_cast<int>(i)))] =
        static_cast<std::uint8_t>(source.read(3));
  }
  CodeLengthTable table;
  if (!make_table(code_length_bits, table)) return false;
  for (std::size_t next = 0; next < count;) {
    source.refill();
    if (source.overrun()) return false;
    const Entry entry = table.entries[source.pending & CodeLengthTable::kMask];
    source.drop(entry.bits());
    const auto symbol = static_cast<std::uint8_t>(entry.bytes());
    if (symbol < 16) {
      codes.bits[next++] = symbol;
      continue;
    }
    if (symbol == 16 && next == 0) return false;
    const unsigned run = symbol == 16   ? 3 + source.read(2)
                         : symbol == 17 ? 3 + source.read(3)
                                        : 11 + source.read(7);
    if (run > count - next) return false;
    std::fill_n(codes.bits.begin() + static_cast<std::ptrdiff_t>(next), run,
                symbol == 16 ? codes.bits[next - 1] : std::uint8_t{0});
    next += run;
  }
  return true;
}

/// Whether nine of ten symbols are bytes, estimated from code lengths: with fewer, tables of several bytes
/// are not faster (measured, docs/measurements/2026-11-23-deflate.md).
bool are_mostly_bytes(const CodeBits& codes) noexcept {
  double fraction = 0;
  for (std::size_t byte = 0; byte < 256; ++byte)
    if (codes.bits[byte] > 0) fraction += 1.0 / static_cast<double>(1u << codes.bits[byte]);
  return fraction >= 0.9;
}

/// Follows a stream that exceeds its block and checks its checksum, since a damaged stream often continues.
InflateStatus check_excess(std::span<const std::byte> stream, std::size_t max_bytes) {
  z_stream zlib{};
  if (inflateInit(&zlib) != Z_OK) throw OutOfMemory("no memory for a deflate decoder; ask for fewer threads");
  std::array<Bytef, kSkipBufferBytes> skipped;
  zlib.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(stream.data()));
  zlib.avail_in = static_cast<uInt>(stream.size());
  int result = Z_OK;
  while (result == Z_OK && zlib.total_out <= max_bytes) {
    zlib.next_out = skipped.data();
    zlib.avail_out = static_cast<uInt>(skipped.size());
    result = ::inflate(&zlib, Z_NO_FLUSH);
  }
  inflateEnd(&zlib);
  if (result == Z_MEM_ERROR) throw OutOfMemory("no memory for a deflate decoder; ask for fewer threads");
  if (zlib.total_out > max_bytes) return InflateStatus::over_limit;
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
      return check_excess(stream, max_bytes);
    case LIBDEFLATE_SHORT_OUTPUT:
      return InflateStatus::fewer;
    default:
      return InflateStatus::broken;
  }
}

/// Decodes a zlib stream block by block.
class Inflater::Stream {
 public:
  Stream(Tables& tables, std::span<const std::byte> stream, std::span<std::byte> out,
         bool mostly_bytes) noexcept
      : tables_(tables),
        out_(out),
        mostly_bytes_(mostly_bytes),
        block_{&tables.lengths, &tables.distances, BitSource(blocks_in(stream)),
               ByteSink{out.data(), out.data(), out.data() + out.size()}} {
    if (block_.source.in != nullptr) open_block();
  }

  bool in_block() const noexcept { return state_ == State::in_block; }

  /// Decodes blocks of both streams in one loop while both are within a block.
  static void decode_both(Stream& first, Stream& second) noexcept {
    while (first.in_block() && second.in_block()) {
      const auto statuses = decode_two_blocks(first.block_, second.block_);
      first.finish_block(statuses[0]);
      second.finish_block(statuses[1]);
    }
  }
  void decode_rest() noexcept {
    while (in_block()) finish_block(decode_block(block_));
  }

  /// Whether the last block filled the output and the checksum is correct.
  bool is_whole() noexcept {
    if (state_ != State::at_end || block_.sink.next != block_.sink.end) return false;
    block_.source.align();
    std::uint32_t checksum = 0;
    for (std::size_t i = 0; i < kChecksumBytes; ++i)
      checksum = checksum << 8 | std::to_integer<std::uint32_t>(block_.source.in[i]);
    return checksum == libdeflate_adler32(1, out_.data(), out_.size());
  }

 private:
  enum class State : std::uint8_t { in_block, at_end, failed };

  /// Returns the blocks of a zlib stream; empty for anything else.
  static std::span<const std::byte> blocks_in(std::span<const std::byte> stream) noexcept {
    if (stream.size() < kHeaderBytes + kChecksumBytes || !is_header(stream)) return {};
    return stream.subspan(kHeaderBytes, stream.size() - kHeaderBytes - kChecksumBytes);
  }

  void finish_block(BlockStatus status) noexcept {
    if (status == BlockStatus::fail) state_ = State::failed;
    if (status == BlockStatus::end) open_block();
  }

  /// Reads the codes of the next block, after copying stored blocks.
  void open_block() noexcept {
    state_ = State::failed;
    while (!is_last_) {
      BitSource& source = block_.source;
      source.refill();
      is_last_ = source.read(1) != 0;
      const unsigned type = source.read(2);
      if (type == 3 || source.overrun()) return;
      if (type == 0) {
        if (!copy_stored(source, block_.sink)) return;
        continue;
      }
      if (read_codes(type == 2)) state_ = State::in_block;
      return;
    }
    state_ = State::at_end;
  }

  bool read_codes(bool is_dynamic) noexcept {
    CodeBits codes = fixed_bits();
    if (is_dynamic && !read_code_bits(block_.source, codes)) return false;
    if (mostly_bytes_ && !are_mostly_bytes(codes)) return false;
    mostly_bytes_ = false;  // only the first block is checked
    return make_table(codes.lengths(), tables_.lengths) && make_table(codes.distances(), tables_.distances);
  }

  Tables& tables_;
  std::span<std::byte> out_;
  bool mostly_bytes_, is_last_ = false;
  State state_ = State::failed;
  BlockStream block_;
};

bool Inflater::decode_by_tables(std::span<const std::byte> stream, std::span<std::byte> out,
                                bool mostly_bytes) noexcept {
  Stream decoder(*tables_, stream, out, mostly_bytes);
  decoder.decode_rest();
  return decoder.is_whole();
}

std::array<bool, 2> Inflater::decode_two(const Coded& first, const Coded& second) noexcept {
  if (std::min(first.stream.size(), second.stream.size()) < kMinBytes) return {false, false};
  Stream first_stream(*first.inflater.tables_, first.stream, first.out, true);
  Stream second_stream(*second.inflater.tables_, second.stream, second.out, true);
  Stream::decode_both(first_stream, second_stream);
  first_stream.decode_rest();
  second_stream.decode_rest();
  return {first.inflater.was_by_tables_ = first_stream.is_whole(),
          second.inflater.was_by_tables_ = second_stream.is_whole()};
}

std::int64_t Inflater::memory_bytes() noexcept {
  constexpr std::int64_t kLibdeflateBytes = 16 << 10, kZlibBytes = 48 << 10;
  return static_cast<std::int64_t>(sizeof(Inflater) + sizeof(Tables)) + kLibdeflateBytes + kZlibBytes;
}

}  // namespace sepconv::deflate
