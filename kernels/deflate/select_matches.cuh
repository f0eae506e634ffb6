// Selects the matches of a block with the previous pixel and the row above: the same ones as find_matches()
// of the CPU encoder.
#pragma once

#include <cuda_runtime.h>

#include "kernels/deflate/crc32.hpp"
#include "kernels/deflate/device_tiles.cuh"

namespace sepconv::deflate {

constexpr unsigned kFullWarp = 0xFFFFFFFFU;
constexpr int kLanes = 32;
constexpr int kMaskWords = 1024;  // one bit per byte of a block, with a margin for deflate

/// A bit for each byte of a block: whether it equals the byte `distance` before it, for the near and the far
/// distance. Bits after the block are 0 up to the end of its last word.
struct EqualBytes {
  std::uint64_t words[2][kMaskWords];
};

/// Sums for Adler-32: of all bytes, and of each byte times the number of bytes from it to the block's end.
struct ByteSums {
  std::uint32_t sum;
  std::uint64_t weighted;
};

/// Called by all threads, one lane per byte. Returns this thread's partial sums.
__device__ inline ByteSums find_equal_bytes(const std::uint8_t* data, const DeviceBlock& block,
                                            const MatchDistances& raster, EqualBytes& same) {
  const std::int64_t distances[2] = {raster.pixel_distance(), raster.row_distance()};
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  ByteSums sums{};
  // Writes both halves of every word, also of the last.
  const int end = (block.size + 63) / 64 * 64;
#pragma unroll 2
  for (int at = static_cast<int>(threadIdx.x) - lane; at < end; at += kThreads) {
    const int i = at + lane;
    const bool is_inside = i < block.size;
    const unsigned byte = is_inside ? data[i] : 0;
    sums.sum += byte;
    sums.weighted += std::uint64_t{byte} * static_cast<unsigned>(block.size - i);
    for (int kind = 0; kind < 2; ++kind) {
      const std::int64_t distance = distances[kind];
      // A word of 64 bytes is skipped as a whole if its first byte has no byte `distance` before it.
      const bool is_same = is_inside && block.first + at / 64 * 64 >= distance && byte == data[i - distance];
      const unsigned bits = __ballot_sync(kFullWarp, is_same);
      if (lane == 0) reinterpret_cast<std::uint32_t*>(same.words[kind])[at / 32] = bits;
    }
  }
  return sums;
}

/// Searches the masks of a block of `size` bytes. Called by one warp with the same arguments in all lanes.
class MatchFinder {
 public:
  struct MatchStart {
    int position;  ///< -1: no match
    bool is_near, is_row_distance;
  };

  __device__ MatchFinder(const EqualBytes& same, int size)
      : same_(same), size_(size), lane_(static_cast<int>(threadIdx.x) % kLanes) {}

  /// Returns the first match at or after `cursor`, which must not decrease.
  __device__ MatchStart next(int cursor) {
    for (int window = cursor / kWindow; window * kWindow < size_; ++window) {
      load(window);
      const int first = (window * kLanes + lane_) * 64, passed = cursor - first;
      const std::uint64_t left = passed >= 64 ? 0 : ~std::uint64_t{0} << (passed > 0 ? passed : 0);
      const std::uint64_t near = near_ & left, far = far_ & left;
      const unsigned found = __ballot_sync(kFullWarp, (near | far) != 0);
      if (found == 0) continue;
      const int bit = __ffsll(static_cast<long long>(near | far)) - 1;  // -1 in lanes without a match
      const int packed = bit < 0 ? 0 : (first + bit) << 2 | (far >> bit & 1) << 1 | (near >> bit & 1);
      const int first_packed = __shfl_sync(kFullWarp, packed, __ffs(static_cast<int>(found)) - 1);
      return {first_packed >> 2, (first_packed & 1) != 0, (first_packed & 2) != 0};
    }
    return {-1, false, false};
  }

  /// Length of the match that begins at `position`.
  __device__ int length(int kind, int position) const {
    const int words = (size_ + 63) / 64;
    for (int first = position / 64; first < words; first += kLanes) {
      const int word = first + lane_;
      std::uint64_t different = word < words ? ~same_.words[kind][word] : ~std::uint64_t{0};
      if (word == position / 64) different &= ~std::uint64_t{0} << (position % 64);
      const unsigned found = __ballot_sync(kFullWarp, different != 0);
      if (found == 0) continue;
      const int end = word * 64 + __ffsll(static_cast<long long>(different)) - 1;
      return __shfl_sync(kFullWarp, end, __ffs(static_cast<int>(found)) - 1) - position;
    }
    return size_ - position;
  }

 private:
  static constexpr int kWindow = 64 * kLanes;  // bytes: one word per lane

  __device__ void load(int window) {
    if (window == window_) return;
    window_ = window;
    near_ = begin(0, window * kLanes + lane_), far_ = begin(1, window * kLanes + lane_);
  }
  /// Start positions of matches in a word; words that the block fills only in part give none.
  __device__ std::uint64_t begin(int kind, int word) const {
    const int whole = size_ / 64;
    if (word >= whole) return 0;
    return match_starts(same_.words[kind][word], word + 1 < whole ? same_.words[kind][word + 1] : 0);
  }

  const EqualBytes& same_;
  int size_, lane_;
  int window_ = -1;
  std::uint64_t near_ = 0, far_ = 0;
};

/// Called by one warp: writes the matches in order and returns their number.
__device__ inline int select_matches(const EqualBytes& same, int size, BlockMatch* matches) {
  MatchFinder finder(same, size);
  int count = 0;
  for (int cursor = 0;;) {
    const MatchFinder::MatchStart start = finder.next(cursor);
    if (start.position < 0) return count;
    const int near = start.is_near ? finder.length(0, start.position) : 0;
    const int far = start.is_row_distance ? finder.length(1, start.position) : 0;
    const int length = far > near ? far : near;
    if (threadIdx.x % kLanes == 0) {
      matches[count] = {static_cast<std::uint16_t>(start.position), static_cast<std::uint16_t>(length - 1),
                        static_cast<std::uint16_t>(far > near)};
    }
    ++count;
    cursor = start.position + length;
  }
}

}  // namespace sepconv::deflate
