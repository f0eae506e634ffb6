#include "io/deflate/block_kernels.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

// The tables of 256 bytes that AVX3_DL looks things up in.
#define HWY_WANT_AVX3_DL
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "io/deflate/block_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "io/deflate/put_bytes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sepconv::deflate::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// A bit for each of 64 bytes: whether it is the one `distance` before.
std::uint64_t same_as_before(const std::byte* at, std::int64_t distance) noexcept {
  const hn::CappedTag<std::uint8_t, 64> d;
  constexpr std::size_t kLanes = 64;
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(at);
  std::uint64_t same = 0;
  for (std::size_t i = 0; i < kLanes; i += hn::Lanes(d)) {
    std::uint64_t part = 0;
    hn::StoreMaskBits(d, hn::Eq(hn::LoadU(d, bytes + i), hn::LoadU(d, bytes + i - distance)),
                      reinterpret_cast<std::uint8_t*>(&part));
    same |= part << i;
  }
  return same;
}

/// Where repeats of one distance begin, 64 bytes after 64 bytes.
class Beginnings {
 public:
  Beginnings(const std::byte* data, std::int64_t distance) noexcept : data_(data), distance_(distance) {}

  std::uint64_t at(std::int64_t chunk, std::int64_t last) noexcept {
    if (chunk < distance_) return 0;
    const std::uint64_t here = chunk == next_at_ ? next_ : same_as_before(data_ + chunk, distance_);
    next_at_ = chunk + 64;
    next_ = next_at_ + 64 <= last ? same_as_before(data_ + next_at_, distance_) : 0;
    return repeats_begin(here, next_);
  }

 private:
  const std::byte* data_;
  std::int64_t distance_;
  std::int64_t next_at_ = -1;
  std::uint64_t next_ = 0;
};

std::int64_t length_at(const std::byte* data, std::int64_t position, std::int64_t last,
                       std::int64_t distance) noexcept {
  std::int64_t at = position;
  for (; at + 8 <= last; at += 8) {
    std::uint64_t here, before;
    std::memcpy(&here, data + at, sizeof here);
    std::memcpy(&before, data + at - distance, sizeof before);
    if (here != before) return at - position + std::countr_zero(here ^ before) / 8;
  }
  while (at < last && data[at] == data[at - distance]) ++at;
  return at - position;
}

void put_forwards(const std::byte* bytes, std::size_t count, const ByteCodes& codes, BitSink& sink) {
  put_bytes<false>(bytes, count, codes, sink);
}
void put_backwards(const std::byte* bytes, std::size_t count, const ByteCodes& codes, BitSink& sink) {
  put_bytes<true>(bytes, count, codes, sink);
}

void find_matches(const std::byte* data, std::int64_t first, std::int64_t last, const std::int64_t* distances,
                  std::vector<Match>& repeats) {
  Beginnings near(data, distances[0]), far(data, distances[1]);
  std::int64_t cursor = first;
  for (std::int64_t chunk = first; chunk + 64 <= last;) {
    const std::uint64_t left = ~std::uint64_t{0} << (cursor - chunk);
    const std::uint64_t by_near = near.at(chunk, last) & left;
    const std::uint64_t by_far = far.at(chunk, last) & left;
    std::uint64_t open = by_near | by_far;
    while (open != 0) {
      const int bit = std::countr_zero(open);
      const std::int64_t position = chunk + bit;
      Match best{position, 0, 0};
      if (by_near >> bit & 1) best = {position, length_at(data, position, last, distances[0]), distances[0]};
      if (by_far >> bit & 1) {
        const std::int64_t length = length_at(data, position, last, distances[1]);
        if (length > best.length) best = {position, length, distances[1]};
      }
      repeats.push_back(best);
      cursor = position + best.length;
      if (cursor >= chunk + 64) break;
      open = (by_near | by_far) & ~std::uint64_t{0} << (cursor - chunk);
    }
    chunk += 64;
    if (cursor > chunk) chunk += (cursor - chunk) / 64 * 64;
    cursor = std::max(cursor, chunk);
  }
}

}  // namespace sepconv::deflate::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sepconv::deflate {
namespace {

HWY_EXPORT(find_matches);
HWY_EXPORT(put_forwards);
HWY_EXPORT(put_backwards);

}  // namespace

void ByteCounts::add(std::span<const std::byte> bytes) noexcept {
  std::size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) {
    std::uint64_t eight;
    std::memcpy(&eight, bytes.data() + i, sizeof eight);
    for (std::size_t k = 0; k < 8; ++k) ++tables_[k][eight >> (8 * k) & 0xFF];
  }
  for (; i < bytes.size(); ++i) ++tables_[i % 8][std::to_integer<std::size_t>(bytes[i])];
}

void ByteCounts::add_to(std::span<std::uint32_t, 256> counts) const noexcept {
  for (const auto& table : tables_)
    for (std::size_t value = 0; value < 256; ++value) counts[value] += table[value];
}

void find_matches(std::span<const std::byte> data, std::int64_t first, std::int64_t last,
                  std::array<std::int64_t, 2> distances, std::vector<Match>& repeats) {
  HWY_DYNAMIC_DISPATCH(find_matches)(data.data(), first, last, distances.data(), repeats);
}

void put_bytes(std::span<const std::byte> bytes, const ByteCodes& codes, BitSink& sink) noexcept {
  HWY_DYNAMIC_DISPATCH(put_forwards)(bytes.data(), bytes.size(), codes, sink);
}

void put_bytes_backwards(std::span<const std::byte> bytes, const ByteCodes& codes, BitSink& sink) noexcept {
  HWY_DYNAMIC_DISPATCH(put_backwards)(bytes.data(), bytes.size(), codes, sink);
}

}  // namespace sepconv::deflate
#endif
