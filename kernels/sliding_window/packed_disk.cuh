// Elements, kernel arguments and stores of the disk kernels. Private to disk_cuda.cu.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/pointwise/device_op.cuh"
#include "kernels/sliding_window/disk_device.hpp"

namespace sepconv::disk_kernels {

using Tuning = DeviceDiskTuning;
constexpr int kWarps = 8, kThreads = 32 * kWarps;
constexpr int kWarpsAcross = Tuning::kTileCols / 32;
constexpr int kRows = Tuning::kThreadRows;
static_assert(kRows * kWarps == Tuning::kTileRows * kWarpsAcross);
constexpr std::int64_t kMaxGridRows = 65535;

/// Pixels of up to 16 bits as unsigned integers in the same order, complemented for the maximum. A word has
/// two: one row in the lower half, and the row a fixed distance further down in the upper half.
struct Packed16 {
  using Word = unsigned;
  using Value = float;
  static constexpr int kPack = 2;
  unsigned flip;
  bool has_sign;
  Packed16(const Window& window, PixelType type)
      : flip((window.op == Window::Op::maximum ? 0xffffU : 0U) ^ (type == PixelType::i16 ? 0x8000U : 0U)),
        has_sign(type == PixelType::i16) {}
  template <class From>
  __device__ __forceinline__ Word encode(From x) const {
    return (static_cast<unsigned>(static_cast<int>(x)) ^ flip) & 0xffffU;
  }
  static __device__ __forceinline__ Word pack(Word word, Word next) { return word | next << 16; }
  __device__ __forceinline__ Value value(Word word, int half) const {
    const unsigned bits = (word >> (16 * half) ^ flip) & 0xffffU;
    return static_cast<Value>(has_sign ? static_cast<std::int16_t>(bits) : static_cast<int>(bits));
  }
  static __device__ __forceinline__ Word join(Word a, Word b) { return __vminu2(a, b); }
  static __device__ __forceinline__ Word identity() { return 0xffffffffU; }
};

/// Floating values as integers in the same order, one per word.
template <class A>
struct OrderedBits {
  using Word = std::conditional_t<sizeof(A) == 4, int, long long>;
  using Value = A;
  static constexpr int kPack = 1;
  static constexpr Word kMax = std::numeric_limits<Word>::max();
  Word flip, nan;
  OrderedBits(const Window& window, PixelType)
      : flip(window.op == Window::Op::maximum ? Word(-1) : Word(0)),
        nan(window.ignores_nan ? kMax : std::numeric_limits<Word>::min()) {}
  static __device__ __forceinline__ Word ordered_bits(Word bits) { return bits < 0 ? bits ^ kMax : bits; }
  static __device__ __forceinline__ Word bits_of(float x) { return __float_as_int(x); }
  static __device__ __forceinline__ Word bits_of(double x) { return __double_as_longlong(x); }
  template <class From>
  __device__ __forceinline__ Word encode(From from) const {
    const A x = static_cast<A>(from);
    return x != x ? nan : ordered_bits(bits_of(x)) ^ flip;
  }
  static __device__ __forceinline__ Word pack(Word word, Word) { return word; }
  __device__ __forceinline__ Value value(Word word, int) const {
    const Word bits = ordered_bits(word ^ flip);
    if constexpr (sizeof(A) == 4)
      return __int_as_float(bits);
    else
      return __longlong_as_double(bits);
  }
  static __device__ __forceinline__ Word join(Word a, Word b) { return a < b ? a : b; }
  static __device__ __forceinline__ Word identity() { return kMax; }
};

/// Arguments of the disk kernels.
template <class P>
struct Task {
  device::Rows in;
  Rect in_rect, out;
  Extent image;
  BorderMode border;
  int channels;
  typename P::Value constant;
  int radius_x, radius_y, levels;
  int reach[DeviceChords::kLevels + 1];
  device::Store<typename P::Value> store;

  /// The chords that use windows of 2^level pixels are those from this one to reach[level].
  __device__ __forceinline__ int first_chord(int level) const {
    return level < levels ? reach[level + 1] + 1 : 0;
  }
};

/// Joins `minimum` with the windows of 2^level pixels of chords `from` to `last` above and below kRows words.
/// `middle` points to the first window of the widest chord of the first word.
template <class P, class Pitch>
__device__ __forceinline__ void join_chords(const Task<P>& task, const DeviceChords& chords, int level,
                                            int from, int last, const typename P::Word* middle, Pitch pitch,
                                            int stride, typename P::Word (&minimum)[kRows]) {
  for (int down = from; down <= last; ++down) {
    const int half = chords.half[down - chords.from];
    const int first_offset = (task.radius_x - half) * stride;
    const int second_offset = (task.radius_x + half + 1 - (1 << level)) * stride;
    const auto join = [&](const typename P::Word* line) {
#pragma unroll
      for (int j = 0; j < kRows; ++j)
        minimum[j] =
            P::join(minimum[j], P::join(line[j * pitch + first_offset], line[j * pitch + second_offset]));
    };
    join(middle + down * pitch);
    if (down > 0) join(middle - down * pitch);
  }
}

/// Destination of a thread's words: first row and element, and number of rows from there on.
struct WordTarget {
  std::int64_t row, element, rows;
};

/// Stores words; their upper halves go `half_distance` rows further down.
template <class P>
__device__ __forceinline__ void store_words(const P& policy, const Task<P>& task,
                                            const typename P::Word (&minimum)[kRows],
                                            const WordTarget& target, std::int64_t half_distance) {
#pragma unroll 1
  for (int half = 0; half < P::kPack; ++half) {
    typename P::Value x[kRows];
#pragma unroll
    for (int j = 0; j < kRows; ++j) x[j] = policy.value(minimum[j], half);
    task.store.finish(x);
    const std::int64_t rows = target.rows - half * half_distance;
    device::visit(task.store.to.type, [&]<class T>(T) {
#pragma unroll
      for (int j = 0; j < kRows; ++j)
        if (j < rows)
          task.store.to.template row<T>(target.row + half * half_distance + j)[target.element] =
              device::to_pixel<T>(x[j]);
    });
  }
}

}  // namespace sepconv::disk_kernels
