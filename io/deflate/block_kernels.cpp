#include "io/deflate/block_kernels.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

// AVX3_DL has look-ups in tables of 256 bytes.
#define HWY_WANT_AVX3_DL
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "io/deflate/block_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "io/deflate/put_bytes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sepconv::deflate::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Returns a bit for each of 64 bytes: whether it equals the byte `distance` before it.
std::uint64_t equal_mask(const std::byte* at, std::int64_t distance) noexcept {
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

/// Finds where matches of one distance begin, for consecutive chunks of 64 bytes.
class MatchStarts {
 public:
  MatchStarts(const std::byte* data, std::int64_t distance) noexcept : data_(data), distance_(distance) {}

  std::uint64_t starts_in(std::int64_t chunk, std::int64_t last) noexcept {
    if (chunk < distance_) return 0;
    const std::uint64_t current = chunk == next_chunk_ ? next_ : equal_mask(data_ + chunk, distance_);
    next_chunk_ = chunk + 64;
    next_ = next_chunk_ + 64 <= last ? equal_mask(data_ + next_chunk_, distance_) : 0;
    return match_starts(current, next_);
  }

 private:
  const std::byte* data_;
  std::int64_t distance_;
  std::int64_t next_chunk_ = -1;
  std::uint64_t next_ = 0;
};

std::int64_t match_length(const std::byte* data, std::int64_t position, std::int64_t last,
                          std::int64_t distance) noexcept {
  std::int64_t at = position;
  for (; at + 8 <= last; at += 8) {
    std::uint64_t current, before;
    std::memcpy(&current, data + at, sizeof current);
    std::memcpy(&before, data + at - distance, sizeof before);
    if (current != before) return at - position + std::countr_zero(current ^ before) / 8;
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
                  std::vector<Match>& matches) {
  MatchStarts near(data, distances[0]), far(data, distances[1]);
  std::int64_t cursor = first;
  for (std::int64_t chunk = first; chunk + 64 <= last;) {
    const std::uint64_t remaining = ~std::uint64_t{0} << (cursor - chunk);
    const std::uint64_t near_starts = near.starts_in(chunk, last) & remaining;
    const std::uint64_t far_starts = far.starts_in(chunk, last) & remaining;
    std::uint64_t starts = near_starts | far_starts;
    while (starts != 0) {
      const int bit = std::countr_zero(starts);
      const std::int64_t position = chunk + bit;
      Match best{position, 0, 0};
      if (near_starts >> bit & 1)
        best = {position, match_length(data, position, last, distances[0]), distances[0]};
      if (far_starts >> bit & 1) {
        const std::int64_t length = match_length(data, position, last, distances[1]);
        if (length > best.length) best = {position, length, distances[1]};
      }
      matches.push_back(best);
      cursor = position + best.length;
      if (cursor >= chunk + 64) break;
      starts = (near_starts | far_starts) & ~std::uint64_t{0} << (cursor - chunk);
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
    std::uint64_t eight_bytes;
    std::memcpy(&eight_bytes, bytes.data() + i, sizeof eight_bytes);
    for (std::size_t k = 0; k < 8; ++k) ++tables_[k][eight_bytes >> (8 * k) & 0xFF];
  }
  for (; i < bytes.size(); ++i) ++tables_[i % 8][std::to_integer<std::size_t>(bytes[i])];
}

void ByteCounts::add_to(std::span<std::uint32_t, 256> counts) const noexcept {
  for (const auto& table : tables_)
    for (std::size_t value = 0; value < 256; ++value) counts[value] += table[value];
}

void find_matches(std::span<const std::byte> data, std::int64_t first, std::int64_t last,
                  std::array<std::int64_t, 2> distances, std::vector<Match>& matches) {
  HWY_DYNAMIC_DISPATCH(find_matches)(data.data(), first, last, distances.data(), matches);
}

void put_bytes(std::span<const std::byte> bytes, const ByteCodes& codes, BitSink& sink) noexcept {
  HWY_DYNAMIC_DISPATCH(put_forwards)(bytes.data(), bytes.size(), codes, sink);
}

void put_bytes_backwards(std::span<const std::byte> bytes, const ByteCodes& codes, BitSink& sink) noexcept {
  HWY_DYNAMIC_DISPATCH(put_backwards)(bytes.data(), bytes.size(), codes, sink);
}

}  // namespace sepconv::deflate
#endif
