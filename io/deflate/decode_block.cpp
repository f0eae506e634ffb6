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

/// Copies write up to this many bytes behind their end, where there is room.
constexpr std::int64_t kStep = 16;
constexpr std::int64_t kMaxLength = 258;
/// For one turn: three entries of bytes, a match, and what is written beyond.
constexpr std::int64_t kTurnBytes = 12 + kMaxLength + 2 * kStep;
constexpr std::int64_t kTurnInput = 8 + 2 * 7;

/// For each distance below kStep which of the bytes that far back comes at each place.
constexpr auto kPlaces = [] {
  std::array<std::array<std::uint8_t, kStep>, kStep> places{};
  for (std::size_t distance = 1; distance < kStep; ++distance)
    for (std::size_t i = 0; i < kStep; ++i) places[distance][i] = static_cast<std::uint8_t>(i % distance);
  return places;
}();

struct alignas(kStep) Bytes {
  std::uint8_t bytes[kStep];
};

HWY_INLINE Bytes load(const std::byte* from) {
  Bytes bytes;
  std::memcpy(&bytes, from, sizeof bytes);
  return bytes;
}
HWY_INLINE void store(const Bytes& bytes, std::byte* to) { std::memcpy(to, &bytes, sizeof bytes); }

/// The `distance` first of 16 bytes, again and again.
HWY_INLINE Bytes repeat(const Bytes& first, std::int64_t distance) {
  const auto& places = kPlaces[static_cast<std::size_t>(distance)];
  Bytes repeated;
#if HWY_TARGET == HWY_SCALAR
  for (std::int64_t i = 0; i < kStep; ++i)
    repeated.bytes[i] = first.bytes[places[static_cast<std::size_t>(i)]];
#else
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::FixedTag<std::uint8_t, kStep> d;
  hn::Store(hn::TableLookupBytes(hn::Load(d, first.bytes), hn::LoadU(d, places.data())), d, repeated.bytes);
#endif
  return repeated;
}

HWY_INLINE void copy_match(std::byte* to, std::int64_t distance, std::int64_t length) {
  std::byte* const end = to + length;
  const std::byte* from = to - distance;
  if (distance < kStep) {
    Bytes repeated;
    if (distance == 1) {  // what was stored last comes back at once as a byte, but not as part of a vector
      std::memset(&repeated, std::to_integer<int>(*from), sizeof repeated);
    } else {
      repeated = repeat(load(from), distance);
    }
    const std::int64_t whole = kStep / distance * distance;
    for (; to < end; to += whole) store(repeated, to);
    return;
  }
  do {
    store(load(from), to);
    to += kStep, from += kStep;
  } while (to < end);
}

HWY_INLINE Entry look_up(const LengthTable& lengths, const BitSource& source) {
  return lengths.entries[source.held & LengthTable::kMask];
}

/// A symbol that is not a byte of the first table. kCareful: anything may be at its end.
template <bool kCareful>
HWY_INLINE Step decode_symbol(Entry entry, const LengthTable& lengths, const DistanceTable& distances,
                              BitSource& source, ByteSink& sink) {
  if (entry.kind() != Entry::Kind::value) [[unlikely]] {
    source.drop(entry.bits());
    if (entry.kind() != Entry::Kind::subtable)
      return entry.kind() == Entry::Kind::end_of_block ? Step::end : Step::fail;
    entry = lengths.entries[entry.value() + (source.held & LengthTable::kSubtableMask)];
    if (entry.has_bytes()) {
      if (kCareful && sink.at == sink.end) return Step::fail;
      *sink.at++ = static_cast<std::byte>(entry.bytes());
    }
    if (entry.has_bytes() || entry.kind() != Entry::Kind::value) {
      source.drop(entry.bits());
      return entry.has_bytes()                           ? Step::go_on
             : entry.kind() == Entry::Kind::end_of_block ? Step::end
                                                         : Step::fail;
    }
  }
  const std::int64_t length = entry.value_in(source.held);
  source.drop(entry.bits());
  entry = distances.entries[source.held & DistanceTable::kMask];
  kCareful ? source.refill() : source.refill_from_8();
  if (kCareful) entry = distances.entries[source.held & DistanceTable::kMask];
  if (entry.kind() != Entry::Kind::value) [[unlikely]] {
    if (entry.kind() != Entry::Kind::subtable) return Step::fail;
    source.drop(entry.bits());
    entry = distances.entries[entry.value() + (source.held & DistanceTable::kSubtableMask)];
    if (entry.kind() != Entry::Kind::value) return Step::fail;
  }
  const std::int64_t distance = entry.value_in(source.held);
  source.drop(entry.bits());
  if (distance > sink.at - sink.begin || (kCareful && length > sink.end - sink.at)) return Step::fail;
  if (kCareful && sink.end - sink.at < length + 2 * kStep) {
    for (std::int64_t i = 0; i < length; ++i) sink.at[i] = sink.at[i - distance];
  } else {
    copy_match(sink.at, distance, length);
  }
  sink.at += length;
  return Step::go_on;
}

HWY_INLINE bool has_margin(const BitSource& source, const ByteSink& sink) {
  return source.end - source.in >= kTurnInput && sink.end - sink.at >= kTurnBytes;
}

/// The bytes of an entry, without looking at its room: four are written.
HWY_INLINE void put(Entry entry, BitSource& source, ByteSink& sink) {
  const std::uint32_t bytes = entry.bytes();
  std::memcpy(sink.at, &bytes, sizeof bytes);
  sink.at += entry.count();
  source.drop(entry.bits());
}

/// A turn takes at most three entries of bytes, 39 bits, and looks up the next with what is left of 56; or
/// two and a length, 46 bits, with which the distance is looked up. So no look-up waits for a refill.
HWY_INLINE Step decode_turn(const LengthTable& lengths, const DistanceTable& distances, BitSource& source,
                            ByteSink& sink, Entry& entry) {
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
        return Step::go_on;
      }
    }
  }
  const Step step = decode_symbol<false>(entry, lengths, distances, source, sink);
  if (step == Step::go_on) entry = look_up(lengths, source);
  return step;
}

HWY_INLINE Step decode_turns(const LengthTable& lengths, const DistanceTable& distances, BitSource& source,
                             ByteSink& sink) {
  if (!has_margin(source, sink)) return Step::go_on;
  source.refill_from_8();
  Entry entry = look_up(lengths, source);
  Step step = Step::go_on;
  do {
    step = decode_turn(lengths, distances, source, sink, entry);
  } while (step == Step::go_on && has_margin(source, sink));
  return step;
}

HWY_INLINE Step decode_carefully(const LengthTable& lengths, const DistanceTable& distances,
                                 BitSource& source, ByteSink& sink) {
  source.refill();
  if (source.overrun()) return Step::fail;
  const Entry entry = look_up(lengths, source);
  if (!entry.has_bytes()) return decode_symbol<true>(entry, lengths, distances, source, sink);
  if (static_cast<std::int64_t>(entry.count()) > sink.end - sink.at) return Step::fail;
  for (unsigned i = 0; i < entry.count(); ++i) *sink.at++ = static_cast<std::byte>(entry.bytes() >> (8 * i));
  source.drop(entry.bits());
  return Step::go_on;
}

/// How many turns there is room for whatever they take.
HWY_INLINE std::int64_t turns_of(const BlockStream& stream) {
  return std::min((stream.source.end - stream.source.in) / kTurnInput,
                  (stream.sink.end - stream.sink.at) / kTurnBytes);
}

/// Bytes of two streams in turns, until either has something else, within `turns` that there is room for.
/// Not inline: what else a decoder does would take the registers that this needs.
HWY_NOINLINE void decode_bytes_of_two(BlockStream& one, BlockStream& other, std::int64_t turns) {
  const LengthTable &lengths_1 = *one.lengths, &lengths_2 = *other.lengths;
  BitSource source_1 = one.source, source_2 = other.source;
  ByteSink sink_1 = one.sink, sink_2 = other.sink;
  source_1.refill_from_8();
  source_2.refill_from_8();
  Entry entry_1 = look_up(lengths_1, source_1), entry_2 = look_up(lengths_2, source_2);
  const auto take = [](Entry& entry, const LengthTable& lengths, BitSource& source, ByteSink& sink) {
    if (!entry.has_bytes()) return false;
    put(entry, source, sink);
    entry = look_up(lengths, source);
    return true;
  };
  const auto take_both = [&] {
    return take(entry_1, lengths_1, source_1, sink_1) && take(entry_2, lengths_2, source_2, sink_2);
  };
  for (; turns > 0 && take_both() && take_both() && take_both(); --turns) {
    source_1.refill_from_8();
    source_2.refill_from_8();
  }
  one.source = source_1, one.sink = sink_1;
  other.source = source_2, other.sink = sink_2;
}

/// A turn of one stream, or, where there may be no room for one, a symbol or an entry of bytes.
template <bool kCareful>
HWY_INLINE Step decode_some(BlockStream& stream) {
  BitSource source = stream.source;
  ByteSink sink = stream.sink;
  Step step;
  if (kCareful) {
    step = decode_carefully(*stream.lengths, *stream.distances, source, sink);
  } else {
    source.refill_from_8();
    Entry entry = look_up(*stream.lengths, source);
    step = decode_turn(*stream.lengths, *stream.distances, source, sink, entry);
  }
  stream.source = source;
  stream.sink = sink;
  return step;
}

}  // namespace

Step decode_block(BlockStream& stream) {
  BitSource source = stream.source;
  ByteSink sink = stream.sink;
  Step step = Step::go_on;
  while (step == Step::go_on) {
    step = decode_turns(*stream.lengths, *stream.distances, source, sink);
    if (step == Step::go_on) step = decode_carefully(*stream.lengths, *stream.distances, source, sink);
  }
  stream.source = source;
  stream.sink = sink;
  return source.overrun() ? Step::fail : step;
}

std::array<Step, 2> decode_two_blocks(BlockStream& one, BlockStream& other) {
  std::array<Step, 2> steps{Step::go_on, Step::go_on};
  const auto both_go_on = [&] { return steps == std::array{Step::go_on, Step::go_on}; };
  while (both_go_on()) {
    if (const std::int64_t turns = std::min(turns_of(one), turns_of(other)); turns > 0) {
      decode_bytes_of_two(one, other, turns - 1);
      steps = {decode_some<false>(one), decode_some<false>(other)};
    } else {
      steps = {decode_some<true>(one), decode_some<true>(other)};
    }
  }
  if (one.source.overrun()) steps[0] = Step::fail;
  if (other.source.overrun()) steps[1] = Step::fail;
  return steps;
}

}  // namespace sepconv::deflate::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sepconv::deflate {
namespace {

HWY_EXPORT(decode_block);
HWY_EXPORT(decode_two_blocks);

}  // namespace

Step decode_block(BlockStream& stream) noexcept { return HWY_DYNAMIC_DISPATCH(decode_block)(stream); }

std::array<Step, 2> decode_two_blocks(BlockStream& one, BlockStream& other) noexcept {
  return HWY_DYNAMIC_DISPATCH(decode_two_blocks)(one, other);
}

}  // namespace sepconv::deflate
#endif
