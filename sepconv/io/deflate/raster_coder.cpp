#include "sepconv/io/deflate/raster_coder.hpp"

#include <libdeflate.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "sepconv/core/geometry.hpp"
#include "sepconv/io/deflate/prefix_code.hpp"

namespace sepconv::deflate {
namespace {

/// A whole number of vectors that a stored block can hold.
constexpr std::int64_t kBlockBytes = 65280;
/// Four of them are put at once, and decoders that look up 13 bits, as ours, need no second table; 14 would
/// save 0.09 % over 45 images, 0.5 % at most.
constexpr int kMostCodeBits = 13;
constexpr int kMostDistance = 32768;
constexpr std::size_t kLengths = 286, kDistances = 30;

/// What RFC 1951, 3.2.5 writes for a length or a distance.
struct Value {
  std::size_t symbol;
  unsigned extra_bits, extra;
};

/// Symbols come in groups of `1 << kGroupBits`, each group with one extra bit more.
template <unsigned kGroupBits>
Value grouped(unsigned value) noexcept {
  const unsigned width = static_cast<unsigned>(std::bit_width(value));
  const unsigned extra_bits = width > kGroupBits + 1 ? width - kGroupBits - 1 : 0;
  const unsigned group = value >> extra_bits;
  return {(std::size_t{extra_bits} << kGroupBits) + group, extra_bits, value - (group << extra_bits)};
}

Value length_value(std::int64_t length) noexcept {
  if (length == 258) return {285, 0, 0};
  Value value = grouped<2>(static_cast<unsigned>(length - 3));
  value.symbol += 257;
  return value;
}

Value distance_value(std::int64_t distance) noexcept {
  return grouped<1>(static_cast<unsigned>(distance - 1));
}

/// Calls `visit` with the lengths that one repeat is written as: 3 to 258 each.
template <class Visit>
void for_each_part(std::int64_t length, Visit visit) {
  while (length > 258) {
    const std::int64_t part = length < 258 + 3 ? length - 3 : 258;
    visit(part);
    length -= part;
  }
  visit(length);
}

/// A symbol of the code lengths' own code (RFC 1951, 3.2.7), with its extra bits.
struct LengthSymbol {
  std::uint8_t symbol, extra;
};
constexpr std::uint8_t kExtraBits[kBitsSymbols.size()] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                                                          0, 0, 0, 0, 0, 0, 2, 3, 7};

/// Writes runs of equal code lengths as such.
std::size_t shorten(std::span<const std::uint8_t> lengths, std::span<LengthSymbol> to) noexcept {
  std::size_t made = 0;
  for (std::size_t i = 0; i < lengths.size();) {
    const std::uint8_t length = lengths[i];
    std::size_t run = 1;
    while (i + run < lengths.size() && lengths[i + run] == length) ++run;
    i += run;
    if (length == 0) {
      for (; run >= 11; run -= std::min<std::size_t>(run, 138))
        to[made++] = {18, static_cast<std::uint8_t>(std::min<std::size_t>(run, 138) - 11)};
      if (run >= 3) to[made++] = {17, static_cast<std::uint8_t>(run - 3)}, run = 0;
    } else {
      to[made++] = {length, 0};
      for (--run; run >= 3; run -= std::min<std::size_t>(run, 6))
        to[made++] = {16, static_cast<std::uint8_t>(std::min<std::size_t>(run, 6) - 3)};
    }
    for (; run > 0; --run) to[made++] = {length, 0};
  }
  return made;
}

/// Codes of a block, and how they are told.
struct Codes {
  std::array<std::uint32_t, kLengths> length_counts{};
  std::array<std::uint32_t, kDistances> distance_counts{};
  // Lengths of the codes of lengths and bytes, and right behind them of those of distances.
  std::array<std::uint8_t, kLengths + kDistances> bits{};
  std::array<std::uint16_t, kLengths + kDistances> codes{};
  std::size_t lengths = 0, distances = 0;
  std::array<LengthSymbol, kLengths + kDistances> told;
  std::size_t told_count = 0;
  std::array<std::uint32_t, kBitsSymbols.size()> told_counts{};
  std::array<std::uint8_t, kBitsSymbols.size()> told_bits{};
  std::array<std::uint16_t, kBitsSymbols.size()> told_codes{};
  std::size_t told_kinds = 0;

  void count(std::span<const std::byte> in, std::span<const Repeat> repeats, std::int64_t first,
             std::int64_t last) noexcept {
    ByteCounts bytes;
    std::int64_t cursor = first;
    const auto literals_to = [&](std::int64_t end) {
      bytes.add(in.subspan(static_cast<std::size_t>(cursor), static_cast<std::size_t>(end - cursor)));
    };
    for (const Repeat& repeat : repeats) {
      literals_to(repeat.position);
      const std::size_t distance = distance_value(repeat.distance).symbol;
      for_each_part(repeat.length, [&](std::int64_t part) {
        ++length_counts[length_value(part).symbol];
        ++distance_counts[distance];
      });
      cursor = repeat.position + repeat.length;
    }
    literals_to(last);
    bytes.add_to(std::span<std::uint32_t, 256>(length_counts.data(), 256));
    length_counts[kEndOfBlock] = 1;
    // Some decoders want a code of distances that is complete, even if none is used.
    for (std::size_t i = 0; i < 2 && std::ranges::count_if(distance_counts, [](auto n) { return n > 0; }) < 2;
         ++i)
      if (distance_counts[i] == 0) distance_counts[i] = 1;
  }

  void choose() noexcept {
    choose_lengths(length_counts, kMostCodeBits, std::span(bits).first(kLengths));
    std::array<std::uint8_t, kDistances> of_distances;
    choose_lengths(distance_counts, kMostCodeBits, of_distances);
    lengths = used(std::span(bits).first(kLengths), kEndOfBlock + 1);
    distances = used(of_distances, 1);
    std::copy_n(of_distances.begin(), distances, bits.begin() + static_cast<std::ptrdiff_t>(lengths));
    assign_codes(std::span(bits).first(lengths), std::span(codes).first(lengths));
    assign_codes(std::span(bits).subspan(lengths, distances), std::span(codes).subspan(lengths, distances));
    told_count = shorten(std::span(bits).first(lengths + distances), told);
    for (std::size_t i = 0; i < told_count; ++i) ++told_counts[told[i].symbol];
    choose_lengths(told_counts, 7, told_bits);
    assign_codes(told_bits, told_codes);
    told_kinds = kBitsSymbols.size();
    while (told_kinds > 4 && told_bits[kBitsSymbols[told_kinds - 1]] == 0) --told_kinds;
  }

  /// Bits of the block as these codes write it.
  std::int64_t cost(std::span<const Repeat> repeats) const noexcept {
    std::int64_t sum = 3 + 5 + 5 + 4 + 3 * static_cast<std::int64_t>(told_kinds);
    for (std::size_t i = 0; i < kBitsSymbols.size(); ++i)
      sum += std::int64_t{told_counts[i]} * (told_bits[i] + kExtraBits[i]);
    for (std::size_t i = 0; i < lengths; ++i) sum += std::int64_t{length_counts[i]} * bits[i];
    for (const Repeat& repeat : repeats) {
      const Value distance = distance_value(repeat.distance);
      for_each_part(repeat.length, [&](std::int64_t part) {
        sum += length_value(part).extra_bits + bits[lengths + distance.symbol] + distance.extra_bits;
      });
    }
    return sum;
  }

  void put_head(bool is_last, BitSink& sink) const noexcept {
    sink.put((is_last ? 1u : 0u) | 2u << 1, 3);
    sink.put((lengths - 257) | (distances - 1) << 5 | (told_kinds - 4) << 10, 14);
    for (std::size_t i = 0; i < told_kinds; ++i) sink.put(told_bits[kBitsSymbols[i]], 3);
    for (std::size_t i = 0; i < told_count; ++i) {
      const auto [symbol, extra] = told[i];
      sink.put(told_codes[symbol], told_bits[symbol]);
      sink.put(extra, kExtraBits[symbol]);
    }
  }

  void put_repeat(const Repeat& repeat, BitSink& sink) const noexcept {
    const Value distance = distance_value(repeat.distance);
    for_each_part(repeat.length, [&](std::int64_t part) {
      const Value length = length_value(part);
      sink.put(codes[length.symbol] | length.extra << bits[length.symbol],
               bits[length.symbol] + length.extra_bits);
      const std::size_t at = lengths + distance.symbol;
      sink.put(codes[at] | distance.extra << bits[at], bits[at] + distance.extra_bits);
    });
  }

 private:
  static std::size_t used(std::span<const std::uint8_t> bits, std::size_t least) noexcept {
    std::size_t count = bits.size();
    while (count > least && bits[count - 1] == 0) --count;
    return count;
  }
};

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
  // 5 bytes and some bits before a block that is stored; header, checksum and what a sink writes beyond.
  return bytes + 6 * (ceil_div(bytes, kBlockBytes) + 1) + 32;
}

std::int64_t RasterCoder::encode(std::span<const std::byte> in, Raster raster, std::span<std::byte> out) {
  BitSink sink{out.data()};
  sink.put(kZlibHeader, 16);
  put(in, raster, true, sink);
  sink.align();
  sink.put(__builtin_bswap32(libdeflate_adler32(1, in.data(), in.size())), 32);
  return sink.out - out.data();
}

void RasterCoder::put(std::span<const std::byte> in, Raster raster, bool is_end, BitSink& sink) {
  const auto size = static_cast<std::int64_t>(in.size());
  std::int64_t first = 0;
  do {
    const std::int64_t last = std::min(size, first + kBlockBytes);
    put_block(in, raster, {first, last, is_end && last == size}, sink);
    first = last;
  } while (first < size);
}

void RasterCoder::put_block(std::span<const std::byte> in, Raster raster, const Block& block, BitSink& sink) {
  repeats_.clear();
  const auto reachable = [](std::int64_t distance) { return distance >= 1 && distance <= kMostDistance; };
  const std::int64_t pixel = reachable(raster.pixel_bytes) ? raster.pixel_bytes : 1;
  find_repeats(in, block.first, block.last, {pixel, reachable(raster.row_bytes) ? raster.row_bytes : pixel},
               repeats_);
  Codes codes;
  codes.count(in, repeats_, block.first, block.last);
  codes.choose();
  const auto part = [&](std::int64_t first, std::int64_t last) {
    return in.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first));
  };
  if (codes.cost(repeats_) >= 8 * (block.last - block.first) + 40)
    return put_stored(part(block.first, block.last), block.is_last, sink);

  codes.put_head(block.is_last, sink);
  ByteCodes of_bytes;
  for (std::size_t byte = 0; byte < 256; ++byte) of_bytes.set(byte, codes.codes[byte], codes.bits[byte]);
  std::int64_t cursor = block.first;
  for (const Repeat& repeat : repeats_) {
    put_bytes(part(cursor, repeat.position), of_bytes, sink);
    codes.put_repeat(repeat, sink);
    cursor = repeat.position + repeat.length;
  }
  put_bytes(part(cursor, block.last), of_bytes, sink);
  sink.put(codes.codes[kEndOfBlock], codes.bits[kEndOfBlock]);
}

}  // namespace sepconv::deflate
