// Ranks of small windows, sorted in a thread's registers. Private to rank_cuda.cu.
#pragma once

#include <array>
#include <utility>

#include "kernels/rank/rank_task.cuh"

namespace sepconv::rank_kernels {

struct Pair {
  int a, b;
};

/// Batcher's merge exchange for any number of values (Knuth, TAOCP 3, algorithm 5.2.2 M). Returns the number
/// of pairs.
template <std::size_t kMax>
constexpr int merge_exchange(int count, std::array<Pair, kMax>& pairs) {
  int pair_count = 0, top = 1;
  while (2 * top < count) top *= 2;
  for (int p = top; p > 0; p /= 2) {
    int q = top, r = 0, d = p;
    while (true) {
      for (int i = 0; i + d < count; ++i)
        if ((i & p) == r) pairs[static_cast<std::size_t>(pair_count++)] = {i, i + d};
      if (q == p) break;
      d = q - p;
      q /= 2;
      r = p;
    }
  }
  return pair_count;
}

/// The pairs as a type that device code can unpack: 64 a + b of each pair.
template <int kCount>
struct Exchanges {
  static constexpr std::array<Pair, 256> all() {
    std::array<Pair, 256> pairs{};
    merge_exchange(kCount, pairs);
    return pairs;
  }
  static constexpr int count() {
    std::array<Pair, 256> pairs{};
    return merge_exchange(kCount, pairs);
  }
  template <std::size_t... kStep>
  static auto as_type(std::index_sequence<kStep...>)
      -> std::integer_sequence<int, (64 * all()[kStep].a + all()[kStep].b)...>;
  using Type = decltype(as_type(std::make_index_sequence<static_cast<std::size_t>(count())>()));
};

template <int kA, int kB, class A, int kCount>
__device__ __forceinline__ void exchange(A (&values)[kCount]) {
  const A low = fmin(values[kA], values[kB]), high = fmax(values[kA], values[kB]);
  values[kA] = low;
  values[kB] = high;
}

template <class A, int kCount, int... kPair>
__device__ __forceinline__ void sort(A (&values)[kCount], std::integer_sequence<int, kPair...>) {
  (exchange<kPair / 64, kPair % 64>(values), ...);
}

/// Loads the values of kSide x kSide pixels of kPlanes planes.
template <class A, int kSide, int kPlanes>
__device__ __forceinline__ void load_window(const Task<A>& task, std::int64_t row, std::int64_t col,
                                            std::int64_t channel, A (&values)[kSide * kSide * kPlanes]) {
  constexpr int kRadius = kSide / 2;
  const bool inside =
      row >= kRadius && row + kRadius < task.image.rows && col >= kRadius && col + kRadius < task.image.cols;
  device::visit(task.in.type, [&]<class T>(T) {
#pragma unroll
    for (int i = 0; i < kSide * kPlanes; ++i) {
      const int plane = i / kSide;
      const std::int64_t y = row - kRadius + i % kSide;
      if (inside && task.plane(plane) != nullptr) {
        const T* const from = task.template row<T>(plane, y - task.in_rect.row) +
                              (col - kRadius - task.in_rect.col) * task.channels + channel;
#pragma unroll
        for (int j = 0; j < kSide; ++j) values[i * kSide + j] = static_cast<A>(from[j * task.channels]);
      } else {
#pragma unroll
        for (int j = 0; j < kSide; ++j)
          values[i * kSide + j] = value_at<T>(task, plane, y, col - kRadius + j, channel);
      }
    }
  });
}

template <class A, int kSide, int kPlanes>
__global__ void __launch_bounds__(Tuning::kThreads) sort_in_registers(const __grid_constant__ Task<A> task) {
  constexpr int kCount = kSide * kSide * kPlanes;
  const std::int64_t element = static_cast<std::int64_t>(blockIdx.x) * Tuning::kThreads + threadIdx.x;
  if (element >= task.out.cols * task.channels) return;
  const std::int64_t col = task.out.col + element / task.channels, channel = element % task.channels;
  for (std::int64_t y = blockIdx.y; y < task.out.rows; y += gridDim.y) {
    A values[kCount];
    load_window<A, kSide, kPlanes>(task, task.out.row + y, col, channel, values);
    const A centre = values[kCount / 2];
    int valid_count = 0;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const bool is_number = values[i] == values[i];
      valid_count += is_number ? 1 : 0;
      values[i] = is_number ? values[i] : A(INFINITY);
    }
    const std::int64_t rank = rank_among(task, valid_count, centre);
    sort(values, typename Exchanges<kCount>::Type());
    A value = values[0];
#pragma unroll
    for (int i = 1; i < kCount; ++i) value = i == rank ? values[i] : value;
    task.store_value(y, element, rank < 0 ? not_a_number<A>() : value + A(0));
  }
}
}  // namespace sepconv::rank_kernels
