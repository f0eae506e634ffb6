// Which repeats of the pixel before and of the row above a block is written with: those that find_matches()
// of the CPU's coder finds.
#pragma once

#include <cuda_runtime.h>

#include "kernels/deflate/crc32.hpp"
#include "kernels/deflate/device_tiles.cuh"

namespace sepconv::deflate {

constexpr unsigned kFullWarp = 0xFFFFFFFFU;
constexpr int kLanes = 32;
constexpr int kMaskWords = 1024;  // for a bit a byte, of deflate with some to spare

/// A bit for each byte of a block: whether it is the one `distance` before, near and far. Those behind the
/// block are 0, to the end of its last word.
struct SameBytes {
  std::uint64_t words[2][kMaskWords];
};

/// For Adler-32: the sum of bytes, and that of each times how many there are from it to the block's end.
struct ByteSums {
  std::uint32_t sum;
  std::uint64_t weighted;
};

/// By all threads: a lane a byte. Returns what this thread has summed up.
__device__ inline ByteSums find_same_bytes(const std::uint8_t* data, const DeviceBlock& block,
                                           const Raster& raster, SameBytes& same) {
  const std::int64_t distances[2] = {raster.near_distance(), raster.far_distance()};
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  ByteSums sums{};
  // Both halves of every word, also of the last.
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
      // Words of 64 bytes are taken as a whole, those before the first repeat's reach, too.
      const bool is_same = is_inside && block.first + at / 64 * 64 >= distance && byte == data[i - distance];
      const unsigned bits = __ballot_sync(kFullWarp, is_same);
      if (lane == 0) reinterpret_cast<std::uint32_t*>(same.words[kind])[at / 32] = bits;
    }
  }
  return sums;
}

/// What one warp, with the same arguments in all lanes, asks of the masks of a block of `size` bytes.
class MatchFinder {
 public:
  struct MatchStart {
    int position;  ///< -1: there is none
    bool is_near, is_far_match;
  };

  __device__ MatchFinder(const SameBytes& same, int size)
      : same_(same), size_(size), lane_(static_cast<int>(threadIdx.x) % kLanes) {}

  /// The first at `cursor` or behind it, which never goes back.
  __device__ MatchStart next(int cursor) {
    for (int window = cursor / kWindow; window * kWindow < size_; ++window) {
      load(window);
      const int first = (window * kLanes + lane_) * 64, passed = cursor - first;
      const std::uint64_t left = passed >= 64 ? 0 : ~std::uint64_t{0} << (passed > 0 ? passed : 0);
      const std::uint64_t near = near_ & left, far = far_ & left;
      const unsigned found = __ballot_sync(kFullWarp, (near | far) != 0);
      if (found == 0) continue;
      const int bit = __ffsll(static_cast<long long>(near | far)) - 1;  // -1 in lanes that have found none
      const int packed = bit < 0 ? 0 : (first + bit) << 2 | (far >> bit & 1) << 1 | (near >> bit & 1);
      const int first_packed = __shfl_sync(kFullWarp, packed, __ffs(static_cast<int>(found)) - 1);
      return {first_packed >> 2, (first_packed & 1) != 0, (first_packed & 2) != 0};
    }
    return {-1, false, false};
  }

  /// Bytes in a row that are the same, from `position` on.
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
  static constexpr int kWindow = 64 * kLanes;  // bytes: a lane a word

  __device__ void load(int window) {
    if (window == window_) return;
    window_ = window;
    near_ = begin(0, window * kLanes + lane_), far_ = begin(1, window * kLanes + lane_);
  }
  /// Where repeats begin, in words of bytes that are all there.
  __device__ std::uint64_t begin(int kind, int word) const {
    const int whole = size_ / 64;
    if (word >= whole) return 0;
    return repeats_begin(same_.words[kind][word], word + 1 < whole ? same_.words[kind][word + 1] : 0);
  }

  const SameBytes& same_;
  int size_, lane_;
  int window_ = -1;
  std::uint64_t near_ = 0, far_ = 0;
};

/// By one warp: writes the repeats in order and returns how many there are.
__device__ inline int select_matches(const SameBytes& same, int size, BlockMatch* matches) {
  MatchFinder finder(same, size);
  int count = 0;
  for (int cursor = 0;;) {
    const MatchFinder::MatchStart start = finder.next(cursor);
    if (start.position < 0) return count;
    const int near = start.is_near ? finder.length(0, start.position) : 0;
    const int far = start.is_far_match ? finder.length(1, start.position) : 0;
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
