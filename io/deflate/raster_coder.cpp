#include "io/deflate/raster_coder.hpp"

#include <libdeflate.h>

#include <algorithm>
#include <cstring>

#include "core/geometry.hpp"
#include "io/deflate/prefix_code.hpp"

namespace sepconv::deflate {
namespace {

void count_symbols(BlockCode& code, std::span<const std::byte> in, std::span<const Match> matches,
                   std::int64_t first, std::int64_t last) noexcept {
  ByteCounts bytes;
  std::int64_t cursor = first;
  const auto literals_to = [&](std::int64_t end) {
    bytes.add(in.subspan(static_cast<std::size_t>(cursor), static_cast<std::size_t>(end - cursor)));
  };
  for (const Match& match : matches) {
    literals_to(match.position);
    const unsigned distance = distance_value(match.distance).symbol;
    for_each_part(match.length, [&](std::int64_t part) {
      ++code.length_counts[length_value(part).symbol];
      ++code.distance_counts[distance];
    });
    cursor = match.position + match.length;
  }
  literals_to(last);
  bytes.add_to(std::span<std::uint32_t, 256>(code.length_counts, 256));
  code.complete();
}

void choose_codes(BlockCode& code, CodeTable& table) {
  choose_lengths(code.length_counts, kMaxCodeBits, code.length_bits);
  choose_lengths(code.distance_counts, kMaxCodeBits, code.distance_bits);
  code.write_description();
  choose_lengths(code.code_length_counts, BlockCode::kMaxCodeLengthBits, code.told_bits);
  code.assign(table);
}

void put_stored(std::span<const std::byte> bytes, bool is_last, BitSink& sink) noexcept {
  sink.put(is_last ? 1 : 0, 3);
  sink.align();
  const auto size = static_cast<std::uint32_t>(bytes.size());
  sink.put(size | (~size & 0xFFFF) << 16, 32);
  if (!bytes.empty()) std::memcpy(sink.out, bytes.data(), bytes.size());
  sink.out += bytes.size();
}

}  // namespace

struct RasterCoder::Block {
  std::int64_t first, last;
  bool is_last;
};

std::int64_t RasterCoder::max_bytes(std::int64_t bytes) noexcept {
  // 5 bytes and some bits before a stored block; header, checksum and bytes that a sink writes beyond its
  // end.
  return bytes + 6 * (ceil_div(bytes, kBlockBytes) + 1) + 32;
}

std::int64_t RasterCoder::encode(std::span<const std::byte> in, MatchDistances raster,
                                 std::span<std::byte> out) {
  BitSink sink{out.data()};
  sink.put(kZlibHeader, 16);
  put(in, raster, true, sink);
  sink.align();
  sink.put(__builtin_bswap32(libdeflate_adler32(1, in.data(), in.size())), 32);
  return sink.out - out.data();
}

std::int64_t RasterCoder::encode_gzip(std::span<const std::byte> in, MatchDistances raster,
                                      std::span<std::byte> out) {
  BitSink sink{out.data()};
  sink.put(kGzipHeader & 0xFFFFFFFF, 32);
  sink.put(kGzipHeader >> 32, 32);
  sink.put(kGzipSystem, 16);
  put(in, raster, true, sink);
  sink.align();
  sink.put(libdeflate_crc32(0, in.data(), in.size()), 32);
  sink.put(static_cast<std::uint32_t>(in.size()), 32);
  return sink.out - out.data();
}

void RasterCoder::put(std::span<const std::byte> in, MatchDistances raster, bool is_end, BitSink& sink) {
  const auto size = static_cast<std::int64_t>(in.size());
  std::int64_t first = 0;
  do {
    const std::int64_t last = std::min(size, first + kBlockBytes);
    put_block(in, raster, {first, last, is_end && last == size}, sink);
    first = last;
  } while (first < size);
}

void RasterCoder::put_block(std::span<const std::byte> in, MatchDistances raster, const Block& block,
                            BitSink& sink) {
  matches_.clear();
  find_matches(in, block.first, block.last, {raster.pixel_distance(), raster.row_distance()}, matches_);
  BlockCode code{};
  CodeTable table;
  count_symbols(code, in, matches_, block.first, block.last);
  choose_codes(code, table);
  const auto part = [&](std::int64_t first, std::int64_t last) {
    return in.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first));
  };
  if (code.cost() >= 8 * (block.last - block.first) + 40)
    return put_stored(part(block.first, block.last), block.is_last, sink);

  code.write_block_header(block.is_last, sink);
  ByteCodes byte_codes;
  for (std::size_t byte = 0; byte < 256; ++byte)
    byte_codes.set(byte, static_cast<std::uint16_t>(table.lengths[byte]),
                   static_cast<std::uint8_t>(table.lengths[byte] >> 16));
  std::int64_t cursor = block.first;
  for (const Match& match : matches_) {
    put_bytes(part(cursor, match.position), byte_codes, sink);
    put_match(table, match.length, distance_value(match.distance), sink);
    cursor = match.position + match.length;
  }
  put_bytes(part(cursor, block.last), byte_codes, sink);
  put_value(table.lengths[kEndOfBlock], {}, sink);
}

}  // namespace sepconv::deflate
