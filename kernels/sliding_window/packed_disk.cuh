// What disks on a device are joined of, what their kernels are told, and how results leave them. Private to
// disk_cuda.cu.
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

/// Pixels of up to 16 bits as unsigned integers of their order, of which the largest are the least of the
/// complements. A word has two: of one row in its lower half, and of the row that lies `apart` further down.
struct Halves {
  using Word = unsigned;
  using Value = float;
  static constexpr int kPack = 2;
  unsigned flip;
  bool has_sign;
  Halves(const Window& window, PixelType type)
      : flip((window.op == Window::Op::maximum ? 0xffffU : 0U) ^ (type == PixelType::i16 ? 0x8000U : 0U)),
        has_sign(type == PixelType::i16) {}
  template <class From>
  __device__ __forceinline__ Word of(From x) const {
    return (static_cast<unsigned>(static_cast<int>(x)) ^ flip) & 0xffffU;
  }
  static __device__ __forceinline__ Word with(Word word, Word next) { return word | next << 16; }
  __device__ __forceinline__ Value value(Word word, int half) const {
    const unsigned bits = (word >> (16 * half) ^ flip) & 0xffffU;
    return static_cast<Value>(has_sign ? static_cast<std::int16_t>(bits) : static_cast<int>(bits));
  }
  static __device__ __forceinline__ Word join(Word a, Word b) { return __vminu2(a, b); }
  static __device__ __forceinline__ Word greatest() { return 0xffffffffU; }
};

/// Floating values as integers of their order, one to a word.
template <class A>
struct Ordered {
  using Word = std::conditional_t<sizeof(A) == 4, int, long long>;
  using Value = A;
  static constexpr int kPack = 1;
  static constexpr Word kMax = std::numeric_limits<Word>::max();
  Word flip, nan;
  Ordered(const Window& window, PixelType)
      : flip(window.op == Window::Op::maximum ? Word(-1) : Word(0)),
        nan(window.ignores_nan ? kMax : std::numeric_limits<Word>::min()) {}
  static __device__ __forceinline__ Word turned(Word bits) { return bits < 0 ? bits ^ kMax : bits; }
  static __device__ __forceinline__ Word bits_of(float x) { return __float_as_int(x); }
  static __device__ __forceinline__ Word bits_of(double x) { return __double_as_longlong(x); }
  template <class From>
  __device__ __forceinline__ Word of(From from) const {
    const A x = static_cast<A>(from);
    return x != x ? nan : turned(bits_of(x)) ^ flip;
  }
  static __device__ __forceinline__ Word with(Word word, Word) { return word; }
  __device__ __forceinline__ Value value(Word word, int) const {
    const Word bits = turned(word ^ flip);
    if constexpr (sizeof(A) == 4)
      return __int_as_float(bits);
    else
      return __longlong_as_double(bits);
  }
  static __device__ __forceinline__ Word join(Word a, Word b) { return a < b ? a : b; }
  static __device__ __forceinline__ Word greatest() { return kMax; }
};

/// What is to be made, and of what.
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

  /// The chords that are made of windows of 2^level pixels are those from this one on, down to reach[level].
  __device__ __forceinline__ int first(int level) const { return level < levels ? reach[level + 1] + 1 : 0; }
};

/// Joins `least` with the windows of 2^level pixels that chords `from` to `last` have above and below the
/// kRows words, of which `middle` is the first one's first: that of the widest chord.
template <class P, class Pitch>
__device__ __forceinline__ void join_chords(const Task<P>& task, const DeviceChords& chords, int level,
                                            int from, int last, const typename P::Word* middle, Pitch pitch,
                                            int stride, typename P::Word (&least)[kRows]) {
  for (int down = from; down <= last; ++down) {
    const int half = chords.half[down - chords.from];
    const int first = (task.radius_x - half) * stride;
    const int second = (task.radius_x + half + 1 - (1 << level)) * stride;
    const auto join = [&](const typename P::Word* line) {
#pragma unroll
      for (int j = 0; j < kRows; ++j)
        least[j] = P::join(least[j], P::join(line[j * pitch + first], line[j * pitch + second]));
    };
    join(middle + down * pitch);
    if (down > 0) join(middle - down * pitch);
  }
}

/// Where a thread's words go: their first row and element, and how many rows there are from that one on.
struct Place {
  std::int64_t row, element, rows;
};

/// Stores words, and their other halves `apart` rows further down.
template <class P>
__device__ __forceinline__ void store_words(const P& policy, const Task<P>& task,
                                            const typename P::Word (&least)[kRows], const Place& place,
                                            std::int64_t apart) {
#pragma unroll 1
  for (int half = 0; half < P::kPack; ++half) {
    typename P::Value x[kRows];
#pragma unroll
    for (int j = 0; j < kRows; ++j) x[j] = policy.value(least[j], half);
    task.store.finish(x);
    const std::int64_t there = place.rows - half * apart;
    device::visit(task.store.to.type, [&]<class T>(T) {
#pragma unroll
      for (int j = 0; j < kRows; ++j)
        if (j < there)
          task.store.to.template row<T>(place.row + half * apart + j)[place.element] =
              device::to_pixel<T>(x[j]);
    });
  }
}

}  // namespace sepconv::disk_kernels
