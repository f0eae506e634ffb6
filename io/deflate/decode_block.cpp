#include "io/deflate/decode_block.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "io/deflate/decode_block.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sepconv::deflate::HWY_NAMESPACE {
namespace {

/// Copies may write up to this many bytes beyond their end if there is space.
constexpr std::int64_t kCopyBytes = 16;
constexpr std::int64_t kMaxLength = 258;
/// Output of one iteration: three entries of bytes, a match, and bytes written beyond it.
constexpr std::int64_t kIterationBytes = 12 + kMaxLength + 2 * kCopyBytes;
constexpr std::int64_t kIterationInput = 8 + 2 * 7;

/// For each distance below kCopyBytes, the index of the source byte of each output byte.
constexpr auto kRepeatIndices = [] {
  std::array<std::array<std::uint8_t, kCopyBytes>, kCopyBytes> indices{};
  for (std::size_t distance = 1; distance < kCopyBytes; ++distance)
    for (std::size_t i = 0; i < kCopyBytes; ++i)
      indices[distance][i] = static_cast<std::uint8_t>(i % distance);
  return indices;
}();

struct alignas(kCopyBytes) Bytes {
  std::uint8_t bytes[kCopyBytes];
};

HWY_INLINE Bytes load(const std::byte* from) {
  Bytes bytes;
  std::memcpy(&bytes, from, sizeof bytes);
  return bytes;
}
HWY_INLINE void store(const Bytes& bytes, std::byte* to) { std::memcpy(to, &bytes, sizeof bytes); }

/// Repeats the first `distance` of 16 bytes.
HWY_INLINE Bytes repeat(const Bytes& first, std::int64_t distance) {
  const auto& indices = kRepeatIndices[static_cast<std::size_t>(distance)];
  Bytes repeated;
#if HWY_TARGET == HWY_SCALAR
  for (std::int64_t i = 0; i < kCopyBytes; ++i)
    repeated.bytes[i] = first.bytes[indices[static_cast<std::size_t>(i)]];
#else
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::FixedTag<std::uint8_t, kCopyBytes> d;
  hn::Store(hn::TableLookupBytes(hn::Load(d, first.bytes), hn::LoadU(d, indices.data())), d, repeated.bytes);
#endif
  return repeated;
}

HWY_INLINE void copy_match(std::byte* to, std::int64_t distance, std::int64_t length) {
  std::byte* const end = to + length;
  const std::byte* from = to - distance;
  if (distance < kCopyBytes) {
    Bytes repeated;
    if (distance == 1) {  // a byte that was just stored can be read immediately, but not as part of a vector
      std::memset(&repeated, std::to_integer<int>(*from), sizeof repeated);
    } else {
      repeated = repeat(load(from), distance);
    }
    const std::int64_t whole_periods = kCopyBytes / distance * distance;
    for (; to < end; to += whole_periods) store(repeated, to);
    return;
  }
  do {
    store(load(from), to);
    to += kCopyBytes, from += kCopyBytes;
  } while (to < end);
}

HWY_INLINE Entry look_up(const LengthTable& lengths, const BitSource& source) {
  return lengths.entries[source.pending & LengthTable::kMask];
}

/// Decodes a symbol that is not a byte of the first table. kCareful: checks the ends of input and output.
template <bool kCareful>
HWY_INLINE BlockStatus decode_symbol(Entry entry, const LengthTable& lengths, const DistanceTable& distances,
                                     BitSource& source, ByteSink& sink) {
  if (entry.kind() != Entry::Kind::value) [[unlikely]] {
    source.drop(entry.bits());
    if (entry.kind() != Entry::Kind::subtable)
      return entry.kind() == Entry::Kind::end_of_block ? BlockStatus::end : BlockStatus::fail;
    entry = lengths.entries[entry.value() + (source.pending & LengthTable::kSubtableMask)];
    if (entry.has_bytes()) {
      if (kCareful && sink.next == sink.end) return BlockStatus::fail;
      *sink.next++ = static_cast<std::byte>(entry.bytes());
    }
    if (entry.has_bytes() || entry.kind() != Entry::Kind::value) {
      source.drop(entry.bits());
      return entry.has_bytes()                           ? BlockStatus::unfinished
             : entry.kind() == Entry::Kind::end_of_block ? BlockStatus::end
                                                         : BlockStatus::fail;
    }
  }
  const std::int64_t length = entry.value_in(source.pending);
  source.drop(entry.bits());
  entry = distances.entries[source.pending & DistanceTable::kMask];
  kCareful ? source.refill() : source.refill_from_8();
  if (kCareful) entry = distances.entries[source.pending & DistanceTable::kMask];
  if (entry.kind() != Entry::Kind::value) [[unlikely]] {
    if (entry.kind() != Entry::Kind::subtable) return BlockStatus::fail;
    source.drop(entry.bits());
    entry = distances.entries[entry.value() + (source.pending & DistanceTable::kSubtableMask)];
    if (entry.kind() != Entry::Kind::value) return BlockStatus::fail;
  }
  const std::int64_t distance = entry.value_in(source.pending);
  source.drop(entry.bits());
  if (distance > sink.next - sink.begin || (kCareful && length > sink.end - sink.next))
    return BlockStatus::fail;
  if (kCareful && sink.end - sink.next < length + 2 * kCopyBytes) {
    for (std::int64_t i = 0; i < length; ++i) sink.next[i] = sink.next[i - distance];
  } else {
    copy_match(sink.next, distance, length);
  }
  sink.next += length;
  return BlockStatus::unfinished;
}

HWY_INLINE bool has_margin(const BitSource& source, const ByteSink& sink) {
  return source.end - source.in >= kIterationInput && sink.end - sink.next >= kIterationBytes;
}

/// Writes the bytes of an entry, always four, without a check of the remaining space.
HWY_INLINE void put(Entry entry, BitSource& source, ByteSink& sink) {
  const std::uint32_t bytes = entry.bytes();
  std::memcpy(sink.next, &bytes, sizeof bytes);
  sink.next += entry.count();
  source.drop(entry.bits());
}

/// An iteration consumes at most three entries of bytes, 39 bits, and looks up the next entry with the rest
/// of 56 bits; or two entries and a length, 46 bits, with which it looks up the distance. So no look-up waits
/// for a refill.
HWY_INLINE BlockStatus decode_iteration(const LengthTable& lengths, const DistanceTable& distances,
                                        BitSource& source, ByteSink& sink, Entry& entry) {
  source.refill_from_8();
  if (entry.has_bytes()) {
    put(entry, source, sink);
    entry = look_up(lengths, source);
    if (entry.has_bytes()) {
      put(entry, source, sink);
      entry = look_up(lengths, source);
      if (entry.has_bytes()) {
        put(entry, source, sink);
        entry = look_up(lengths, source);
        return BlockStatus::unfinished;
      }
    }
  }
  const BlockStatus status = decode_symbol<false>(entry, lengths, distances, source, sink);
  if (status == BlockStatus::unfinished) entry = look_up(lengths, source);
  return status;
}

HWY_INLINE BlockStatus decode_iterations(const LengthTable& lengths, const DistanceTable& distances,
                                         BitSource& source, ByteSink& sink) {
  if (!has_margin(source, sink)) return BlockStatus::unfinished;
  source.refill_from_8();
  Entry entry = look_up(lengths, source);
  BlockStatus status = BlockStatus::unfinished;
  do {
    status = decode_iteration(lengths, distances, source, sink, entry);
  } while (status == BlockStatus::unfinished && has_margin(source, sink));
  return status;
}

HWY_INLINE BlockStatus decode_carefully(const LengthTable& lengths, const DistanceTable& distances,
                                        BitSource& source, ByteSink& sink) {
  source.refill();
  if (source.overrun()) return BlockStatus::fail;
  const Entry entry = look_up(lengths, source);
  if (!entry.has_bytes()) return decode_symbol<true>(entry, lengths, distances, source, sink);
  if (static_cast<std::int64_t>(entry.count()) > sink.end - sink.next) return BlockStatus::fail;
  for (unsigned i = 0; i < entry.count(); ++i)
    *sink.next++ = static_cast<std::byte>(entry.bytes() >> (8 * i));
  source.drop(entry.bits());
  return BlockStatus::unfinished;
}

/// Number of iterations that input and output certainly suffice for.
HWY_INLINE std::int64_t safe_iterations(const BlockStream& stream) {
  return std::min((stream.source.end - stream.source.in) / kIterationInput,
                  (stream.sink.end - stream.sink.next) / kIterationBytes);
}

/// Decodes bytes of two streams alternately until one has another symbol, for at most `iterations`, for which
/// input and output must suffice. Not inline: the rest of the decoder would occupy registers that this loop
/// needs.
HWY_NOINLINE void decode_bytes_interleaved(BlockStream& stream_1, BlockStream& stream_2,
                                           std::int64_t iterations) {
  const LengthTable &lengths_1 = *stream_1.lengths, &lengths_2 = *stream_2.lengths;
  BitSource source_1 = stream_1.source, source_2 = stream_2.source;
  ByteSink sink_1 = stream_1.sink, sink_2 = stream_2.sink;
  source_1.refill_from_8();
  source_2.refill_from_8();
  Entry entry_1 = look_up(lengths_1, source_1), entry_2 = look_up(lengths_2, source_2);
  const auto decode_entry = [](Entry& entry, const LengthTable& lengths, BitSource& source, ByteSink& sink) {
    if (!entry.has_bytes()) return false;
    put(entry, source, sink);
    entry = look_up(lengths, source);
    return true;
  };
  const auto decode_both = [&] {
    return decode_entry(entry_1, lengths_1, source_1, sink_1) &&
           decode_entry(entry_2, lengths_2, source_2, sink_2);
  };
  for (; iterations > 0 && decode_both() && decode_both() && decode_both(); --iterations) {
    source_1.refill_from_8();
    source_2.refill_from_8();
  }
  stream_1.source = source_1, stream_1.sink = sink_1;
  stream_2.source = source_2, stream_2.sink = sink_2;
}

/// Decodes one iteration, or, if kCareful, one symbol or entry of bytes.
template <bool kCareful>
HWY_INLINE BlockStatus decode_step(BlockStream& stream) {
  BitSource source = stream.source;
  ByteSink sink = stream.sink;
  BlockStatus status;
  if (kCareful) {
    status = decode_carefully(*stream.lengths, *stream.distances, source, sink);
  } else {
    source.refill_from_8();
    Entry entry = look_up(*stream.lengths, source);
    status = decode_iteration(*stream.lengths, *stream.distances, source, sink, entry);
  }
  stream.source = source;
  stream.sink = sink;
  return status;
}

}  // namespace

BlockStatus decode_block(BlockStream& stream) {
  BitSource source = stream.source;
  ByteSink sink = stream.sink;
  BlockStatus status = BlockStatus::unfinished;
  while (status == BlockStatus::unfinished) {
    status = decode_iterations(*stream.lengths, *stream.distances, source, sink);
    if (status == BlockStatus::unfinished)
      status = decode_carefully(*stream.lengths, *stream.distances, source, sink);
  }
  stream.source = source;
  stream.sink = sink;
  return source.overrun() ? BlockStatus::fail : status;
}

std::array<BlockStatus, 2> decode_two_blocks(BlockStream& stream_1, BlockStream& stream_2) {
  std::array<BlockStatus, 2> statuses{BlockStatus::unfinished, BlockStatus::unfinished};
  const auto both_unfinished = [&] {
    return statuses == std::array{BlockStatus::unfinished, BlockStatus::unfinished};
  };
  while (both_unfinished()) {
    if (const std::int64_t iterations = std::min(safe_iterations(stream_1), safe_iterations(stream_2));
        iterations > 0) {
      decode_bytes_interleaved(stream_1, stream_2, iterations - 1);
      statuses = {decode_step<false>(stream_1), decode_step<false>(stream_2)};
    } else {
      statuses = {decode_step<true>(stream_1), decode_step<true>(stream_2)};
    }
  }
  if (stream_1.source.overrun()) statuses[0] = BlockStatus::fail;
  if (stream_2.source.overrun()) statuses[1] = BlockStatus::fail;
  return statuses;
}

}  // namespace sepconv::deflate::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sepconv::deflate {
namespace {

HWY_EXPORT(decode_block);
HWY_EXPORT(decode_two_blocks);

}  // namespace

BlockStatus decode_block(BlockStream& stream) noexcept { return HWY_DYNAMIC_DISPATCH(decode_block)(stream); }

std::array<BlockStatus, 2> decode_two_blocks(BlockStream& stream_1, BlockStream& stream_2) noexcept {
  return HWY_DYNAMIC_DISPATCH(decode_two_blocks)(stream_1, stream_2);
}

}  // namespace sepconv::deflate
#endif
