#include "io/zstd/raster_coder.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/geometry.hpp"
#include "core/zstd/checksum.hpp"
#include "core/zstd/frame.hpp"
#include "io/deflate/prefix_code.hpp"

namespace sepconv::zstd {
namespace {

using deflate::BitSink;
using deflate::Match;
using Bytes = std::span<const std::byte>;

/// Returns the end of the stored field.
std::byte* store(const LittleEndianField& field, std::byte* to) noexcept {
  std::memcpy(to, &field.number, field.bytes);
  return to + field.bytes;
}

std::byte* store(Bytes bytes, std::byte* to) noexcept {
  if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
  return to + bytes.size();
}

bool is_constant(Bytes bytes) noexcept {
  return !bytes.empty() && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
}

/// Returns the code of literals that have more than one value.
LiteralCode make_code(Bytes literals) {
  LiteralCode code{};
  deflate::ByteCounts counts;
  counts.add(literals);
  counts.add_to(code.counts);
  deflate::choose_lengths(code.counts, kMaxLiteralLog, code.bits);
  code.write_description();
  return code;
}

/// Writes four streams, after the jump table with the sizes of three. Returns their end.
std::byte* put_streams(Bytes literals, const LiteralCode& code, std::byte* to) {
  deflate::ByteCodes codes;
  std::memset(&codes, 0, sizeof codes);
  code.assign([&](unsigned literal, std::uint32_t bits) {
    codes.set(literal, static_cast<std::uint16_t>(bits), code.bits[literal]);
  });
  std::byte* jump_table = std::exchange(to, to + kJumpTableBytes);
  const std::size_t stream_bytes = (literals.size() + kStreams - 1) / kStreams;
  for (std::size_t first = 0; first < literals.size(); first += stream_bytes) {
    BitSink sink{to};
    deflate::put_bytes_backwards(literals.subspan(first, std::min(stream_bytes, literals.size() - first)),
                                 codes, sink);
    sink.put(1, 1);
    sink.align();
    const auto size = static_cast<std::uint64_t>(sink.out - to);
    to = sink.out;
    if (first + stream_bytes < literals.size()) jump_table = store(LittleEndianField{size, 2}, jump_table);
  }
  return to;
}

/// Writes the literals section. Returns its end.
std::byte* put_literals(Bytes literals, std::byte* to) {
  const auto count = static_cast<std::uint32_t>(literals.size());
  const auto plain = [&] {
    return store(literals, store(make_literals_header(LiteralKind::raw, count, 0), to));
  };
  if (is_constant(literals))
    return store(literals.first(1), store(make_literals_header(LiteralKind::rle, count, 0), to));
  if (count < kMinCodedLiterals) return plain();
  const LiteralCode code = make_code(literals);
  if (!code.pays(count)) return plain();
  std::byte* const begin = to + make_literals_header(LiteralKind::compressed, count, 0).bytes;
  std::byte* const streams =
      store(std::as_bytes(std::span(code.head)).first(static_cast<std::size_t>(code.head_bytes)), begin);
  std::byte* const end = put_streams(literals, code, streams);
  store(make_literals_header(LiteralKind::compressed, count, static_cast<std::uint32_t>(end - begin)), to);
  return end;
}

}  // namespace

struct RasterCoder::Block {
  std::int64_t first, last;
  bool is_last;
  std::int64_t size() const { return last - first; }
};

RasterCoder::RasterCoder() : codes_{} { codes_.make(); }

std::int64_t RasterCoder::max_bytes(std::int64_t bytes) noexcept {
  // The frame's header and checksum, and output of a block before it is stored as a raw block.
  constexpr std::int64_t kHeaderBytes = 512;
  return bytes + 3 * ceil_div(bytes, kBlockBytes) + kHeaderBytes;
}

std::int64_t RasterCoder::memory_bytes() noexcept {
  constexpr std::int64_t kMaxMatches = kBlockBytes / deflate::kMinMatch;
  return kBlockBytes + 2 * kMaxMatches * static_cast<std::int64_t>(sizeof(Match) + sizeof(Sequence));
}

std::int64_t RasterCoder::encode(Bytes in, MatchDistances raster, bool has_checksum,
                                 std::span<std::byte> out) {
  std::byte* to = store(LittleEndianField{kMagic, 4}, out.data());
  to = store(make_frame_header(in.size(), has_checksum), to);
  to = store(LittleEndianField{in.size(), size_bytes(in.size())}, to);
  const std::int64_t size = std::ssize(in);
  std::int64_t first = 0;
  do {
    const std::int64_t last = std::min(size, first + kBlockBytes);
    to = put_block(in, raster, {first, last, last == size}, to);
    first = last;
  } while (first < size);
  if (has_checksum) to = store(LittleEndianField{checksum_of(in), kChecksumBytes}, to);
  return to - out.data();
}

std::byte* RasterCoder::put_block(Bytes in, MatchDistances raster, const Block& block, std::byte* to) {
  const Bytes bytes =
      in.subspan(static_cast<std::size_t>(block.first), static_cast<std::size_t>(block.size()));
  sequences_.clear();
  const Bytes literals = is_constant(bytes) ? bytes : split(in, raster, block);
  std::byte* const begin = to + kBlockHeaderBytes;
  BitSink sink{put_literals(literals, begin)};
  write_sequences_header(static_cast<std::uint32_t>(sequences_.size()), sink);
  if (!sequences_.empty()) {
    write_sequence_bits(
        codes_, static_cast<std::uint32_t>(sequences_.size()), [&](std::uint32_t i) { return sequences_[i]; },
        sink);
    sink.align();
  }
  if (const std::int64_t encoded_bytes = sink.out - begin; encoded_bytes < block.size()) {
    store(make_block_header(BlockKind::compressed, static_cast<std::uint32_t>(encoded_bytes), block.is_last),
          to);
    return sink.out;
  }
  return store(
      bytes,
      store(make_block_header(BlockKind::raw, static_cast<std::uint32_t>(block.size()), block.is_last), to));
}

Bytes RasterCoder::split(Bytes in, MatchDistances raster, const Block& block) {
  matches_.clear();
  deflate::find_matches(in, block.first, block.last, {raster.pixel_distance(), raster.row_distance()},
                        matches_);
  const auto part = [&](std::int64_t first, std::int64_t last) {
    return in.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first));
  };
  if (matches_.empty()) return part(block.first, block.last);
  literals_.resize(static_cast<std::size_t>(kBlockBytes));
  std::byte* to = literals_.data();
  std::int64_t cursor = block.first;
  RepeatOffsets distances;
  for (const Match& match : matches_) {
    const auto count = static_cast<std::uint32_t>(match.position - cursor);
    to = store(part(cursor, match.position), to);
    sequences_.push_back({count, static_cast<std::uint32_t>(match.length),
                          distances.value(static_cast<std::uint32_t>(match.distance), count)});
    cursor = match.position + match.length;
  }
  to = store(part(cursor, block.last), to);
  return std::span(literals_).first(static_cast<std::size_t>(to - literals_.data()));
}

}  // namespace sepconv::zstd
