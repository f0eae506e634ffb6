// The optional checksum at the end of a zstd frame (RFC 8878, 3.1.1): the low half of XXH64, without a seed,
// of its content (github.com/Cyan4973/xxHash, doc/xxhash_spec.md, "XXH64"). libzstd does not export its own.
// The same source for a host thread, which computes four sums, and for four lanes of a GPU's warp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include "core/deflate/prefix_code.hpp"
#include "core/host_device.hpp"

namespace sepconv::zstd {

inline constexpr unsigned kChecksumBytes = 4;

/// XXH64 has four sums over stripes of 32 bytes; each sum takes 8 bytes of a stripe.
inline constexpr unsigned kSums = 4, kStripeBytes = 8 * kSums;

namespace xxh64 {

inline constexpr std::uint64_t kPrime1 = 0x9E3779B185EBCA87, kPrime2 = 0xC2B2AE3D27D4EB4F,
                               kPrime3 = 0x165667B19E3779F9, kPrime4 = 0x85EBCA77C2B2AE63,
                               kPrime5 = 0x27D4EB2F165667C5;

SEPCONV_HOST_DEVICE inline std::uint64_t rotated(std::uint64_t value, unsigned bits) {
  return value << bits | value >> (64 - bits);
}
SEPCONV_HOST_DEVICE inline std::uint64_t round(std::uint64_t sum, std::uint64_t word) {
  return rotated(sum + word * kPrime2, 31) * kPrime1;
}
SEPCONV_HOST_DEVICE inline std::uint64_t merged(std::uint64_t hash, std::uint64_t sum) {
  return (hash ^ round(0, sum)) * kPrime1 + kPrime4;
}
/// Initial value of sum `index`.
SEPCONV_HOST_DEVICE inline std::uint64_t first(unsigned index) {
  return index == 0 ? kPrime1 + kPrime2 : index == 1 ? kPrime2 : index == 2 ? 0 : 0 - kPrime1;
}

/// Reads a little-endian word; on a GPU the address must be aligned to the word's size.
template <class Word>
SEPCONV_HOST_DEVICE inline Word word_at(const std::uint8_t* at) {
#ifdef __CUDA_ARCH__
  return *reinterpret_cast<const Word*>(at);
#else
  Word word;
  std::memcpy(&word, at, sizeof word);
  return word;
#endif
}

/// Not a loop: GCC at -O2 would keep the sums in memory and take twice as long.
template <unsigned kCount, std::size_t... kIndex>
SEPCONV_HOST_DEVICE inline void add_words(const std::uint8_t* at, std::uint64_t (&sums)[kCount],
                                          std::index_sequence<kIndex...>) {
  ((sums[kIndex] = round(sums[kIndex], word_at<std::uint64_t>(at + 8 * kIndex))), ...);
}

}  // namespace xxh64

/// Computes sums `begin` to begin + kCount - 1 over all whole stripes of the content.
template <unsigned kCount>
SEPCONV_HOST_DEVICE inline void sum_stripes(const std::uint8_t* content, std::uint64_t bytes, unsigned begin,
                                            std::uint64_t (&sums)[kCount]) {
  for (unsigned i = 0; i < kCount; ++i) sums[i] = xxh64::first(begin + i);
  const std::uint64_t stripes = bytes / kStripeBytes;
  content += std::size_t{8} * begin;
#ifdef __CUDA_ARCH__
#pragma unroll 8  // issues loads before the dependent sums
#endif
  for (std::uint64_t stripe = 0; stripe < stripes; ++stripe, content += kStripeBytes)
    xxh64::add_words(content, sums, std::make_index_sequence<kCount>());
}

/// The checksum, from all four sums and the bytes after the last whole stripe.
SEPCONV_HOST_DEVICE inline std::uint32_t finish_sums(const std::uint64_t (&sums)[kSums],
                                                     const std::uint8_t* content, std::uint64_t bytes) {
  using namespace xxh64;
  std::uint64_t hash = kPrime5;
  if (bytes >= kStripeBytes) {
    hash = rotated(sums[0], 1) + rotated(sums[1], 7) + rotated(sums[2], 12) + rotated(sums[3], 18);
    for (const std::uint64_t sum : sums) hash = merged(hash, sum);
  }
  hash += bytes;
  std::uint64_t at = bytes / kStripeBytes * kStripeBytes;
  for (; at + 8 <= bytes; at += 8)
    hash = rotated(hash ^ round(0, word_at<std::uint64_t>(content + at)), 27) * kPrime1 + kPrime4;
  if (at + 4 <= bytes) {
    hash = rotated(hash ^ word_at<std::uint32_t>(content + at) * kPrime1, 23) * kPrime2 + kPrime3;
    at += 4;
  }
  for (; at < bytes; ++at) hash = rotated(hash ^ content[at] * kPrime5, 11) * kPrime1;
  hash = (hash ^ hash >> 33) * kPrime2;
  hash = (hash ^ hash >> 29) * kPrime3;
  return static_cast<std::uint32_t>(hash ^ hash >> 32);
}

/// Computes the checksum on one host thread.
inline std::uint32_t checksum_of(std::span<const std::byte> content) noexcept {
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(content.data());
  std::uint64_t sums[kSums];
  sum_stripes(bytes, content.size(), 0, sums);
  return finish_sums(sums, bytes, content.size());
}

/// Computes the checksum with all lanes of a group (kernels/codec/thread_group.hpp) and returns it in each;
/// if there are four lanes or more, each of four computes one sum. In a GPU's memory the content is aligned
/// to 8 bytes.
template <class ThreadGroup>
SEPCONV_HOST_DEVICE inline std::uint32_t checksum_of(const ThreadGroup& group, const std::uint8_t* content,
                                                     std::uint64_t bytes) {
  constexpr unsigned kLaneSums = ThreadGroup::kLanes >= kSums ? 1 : kSums;
  std::uint64_t partial_sums[kLaneSums], sums[kSums];
  sum_stripes(content, bytes, kLaneSums == 1 ? group.lane() % kSums : 0, partial_sums);
  for (unsigned i = 0; i < kSums; ++i) sums[i] = group.broadcast(partial_sums[i % kLaneSums], i);
  return finish_sums(sums, content, bytes);
}

}  // namespace sepconv::zstd
