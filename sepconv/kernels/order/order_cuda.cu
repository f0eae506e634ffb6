// Order statistics on the device, in three ways: windows of 3 x 3 and 5 x 5 are sorted in a thread's
// registers; a warp goes through the comparisons of a SortingNetwork in shared memory, with two values of
// each slot a lane, so that neighbours share sorted columns as on the CPU; and any window by bisection: how
// many of its values are at most so great? A window that has NaN goes the first way or the last.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "sepconv/kernels/order/order.hpp"
#include "sepconv/kernels/order/sorting_network.hpp"
#include "sepconv/kernels/pointwise/device_op.cuh"

namespace sepconv::engine {
namespace {

struct OrderCudaTuning {
  static constexpr int kThreads = 128;
  static constexpr int kVectors = 2;             ///< values of a slot in a lane
  static constexpr int kWidth = 32 * kVectors;   ///< values of a slot
  static constexpr int kLeastOutputs = 16;       ///< of them that are results, or bisection is as fast
  static constexpr int kSharedBytes = 48 << 10;  ///< of a block
  static constexpr int kMostWarps = 4;           ///< of a block
  static constexpr int kStepsByValue = 480;      ///< of a network, in one launch
  static constexpr std::int64_t kMaxGridRows = 65535;
};
using Tuning = OrderCudaTuning;

/// What all kernels are told: a region of the image, the window, and where results go.
template <class A>
struct Task {
  device::Rows in;
  Rect in_rect, out;
  Extent image;
  std::int64_t channels;
  OrderWindow window;
  std::int64_t rank;
  OrderMissing missing;
  BorderMode border;
  A constant;
  /// Bits of the values that differ, from the first: those of integers, else of all numbers.
  int bits;
  device::Store<A> store;

  __device__ __forceinline__ std::int64_t area() const {
    return (window.left + 1 + window.right) * (window.up + 1 + window.down);
  }
  __device__ __forceinline__ std::int64_t rank_of(std::int64_t there) const {
    return (2 * rank + 1) * there / (2 * area());
  }
};

/// An element at any place of the image's plane.
template <class T, class A>
__device__ __forceinline__ A value_at(const Task<A>& task, std::int64_t row, std::int64_t col,
                                      std::int64_t channel) {
  const std::int64_t y = border_index(row, task.image.rows, task.border);
  const std::int64_t x = border_index(col, task.image.cols, task.border);
  if (y < 0 || x < 0) return task.constant;
  return static_cast<A>(
      task.in.template row<const T>(y - task.in_rect.row)[(x - task.in_rect.col) * task.channels + channel]);
}

template <class A>
__device__ __forceinline__ A not_a_number() {
  return device::Op<A>::missing();
}

/// The result of a window of which `there` values are numbers and rank k of them is found by find(k).
template <class A, class Find>
__device__ __forceinline__ A ranked_of_there(const Task<A>& task, std::int64_t there, A own,
                                             const Find& find) {
  if (there == task.area()) return find(task.rank) + A(0);
  if (there == 0 || task.missing == OrderMissing::propagate) return not_a_number<A>();
  if (task.missing == OrderMissing::ignore && own != own) return not_a_number<A>();
  return find(task.rank_of(there)) + A(0);
}

// Sorting in registers.

struct Pair {
  int a, b;
};

/// Batcher's merge exchange for any number of values (Knuth, TAOCP 3, algorithm 5.2.2 M). Returns their
/// count.
template <std::size_t kMost>
constexpr int merge_exchange(int count, std::array<Pair, kMost>& pairs) {
  int made = 0, top = 1;
  while (2 * top < count) top *= 2;
  for (int p = top; p > 0; p /= 2) {
    int q = top, r = 0, d = p;
    while (true) {
      for (int i = 0; i + d < count; ++i)
        if ((i & p) == r) pairs[static_cast<std::size_t>(made++)] = {i, i + d};
      if (q == p) break;
      d = q - p;
      q /= 2;
      r = p;
    }
  }
  return made;
}

/// As a type, which the device's code can take apart: 64 a + b of each pair.
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

template <class A, int kSide>
__global__ void __launch_bounds__(Tuning::kThreads) sort_in_registers(const __grid_constant__ Task<A> task) {
  constexpr int kCount = kSide * kSide;
  const std::int64_t element = static_cast<std::int64_t>(blockIdx.x) * Tuning::kThreads + threadIdx.x;
  if (element >= task.out.cols * task.channels) return;
  const std::int64_t col = task.out.col + element / task.channels, channel = element % task.channels;
  const bool inside = col >= kSide / 2 && col + kSide / 2 < task.image.cols;
  device::visit(task.in.type, [&]<class T>(T) {
    for (std::int64_t y = blockIdx.y; y < task.out.rows; y += gridDim.y) {
      const std::int64_t row = task.out.row + y;
      A values[kCount];
      if (inside && row >= kSide / 2 && row + kSide / 2 < task.image.rows) {
#pragma unroll
        for (int i = 0; i < kSide; ++i) {
          const T* const from = task.in.template row<const T>(row - kSide / 2 + i - task.in_rect.row) +
                                (col - kSide / 2 - task.in_rect.col) * task.channels + channel;
#pragma unroll
          for (int j = 0; j < kSide; ++j) values[i * kSide + j] = static_cast<A>(from[j * task.channels]);
        }
      } else {
#pragma unroll
        for (int i = 0; i < kCount; ++i)
          values[i] = value_at<T>(task, row - kSide / 2 + i / kSide, col - kSide / 2 + i % kSide, channel);
      }
      const A own = values[kCount / 2];
      int there = 0;
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        const bool number = values[i] == values[i];
        there += number ? 1 : 0;
        values[i] = number ? values[i] : A(INFINITY);
      }
      sort(values, typename Exchanges<kCount>::Type());
      const A result = ranked_of_there(task, there, own, [&](std::int64_t rank) {
        A found = values[0];
#pragma unroll
        for (int i = 1; i < kCount; ++i) found = i == rank ? values[i] : found;
        return found;
      });
      task.store(y, element, result);
    }
  });
}

// Bisection.

/// Numbers as integers of the same order, and back.
__device__ __forceinline__ std::uint32_t key_of(float value) {
  const std::uint32_t bits = __float_as_uint(value);
  return bits >> 31 ? ~bits : bits | 0x80000000U;
}
__device__ __forceinline__ std::uint64_t key_of(double value) {
  const auto bits = static_cast<std::uint64_t>(__double_as_longlong(value));
  return bits >> 63 ? ~bits : bits | 0x8000000000000000ULL;
}
__device__ __forceinline__ float value_of(std::uint32_t key) {
  return __uint_as_float(key >> 31 ? key ^ 0x80000000U : ~key);
}
__device__ __forceinline__ double value_of(std::uint64_t key) {
  return __longlong_as_double(static_cast<long long>(key >> 63 ? key ^ 0x8000000000000000ULL : ~key));
}

/// Calls each(value) for all values of a window; `row` and `col` are those of the pixel.
template <class T, class A, class Each>
__device__ __forceinline__ void each_value(const Task<A>& task, std::int64_t row, std::int64_t col,
                                           std::int64_t channel, const Each& each) {
  const OrderWindow& window = task.window;
  const bool inside = col >= window.left && col + window.right < task.image.cols;
  for (std::int64_t y = row - window.up; y <= row + window.down; ++y) {
    const std::int64_t from_row = border_index(y, task.image.rows, task.border);
    if (inside && from_row >= 0) {
      const T* const from = task.in.template row<const T>(from_row - task.in_rect.row) +
                            (col - window.left - task.in_rect.col) * task.channels + channel;
      const int width = static_cast<int>(window.left + 1 + window.right);
      for (int i = 0; i < width; ++i) each(static_cast<A>(from[i * task.channels]));
    } else {
      for (std::int64_t x = col - window.left; x <= col + window.right; ++x)
        each(value_at<T>(task, y, x, channel));
    }
  }
}

/// The value that `rank` of the window's numbers come before: bit by bit, the greatest of which no more are
/// less.
template <class T, class A>
__device__ A bisect(const Task<A>& task, std::int64_t row, std::int64_t col, std::int64_t channel) {
  using Key = decltype(key_of(A()));
  int there = 0;
  each_value<T>(task, row, col, channel, [&](A value) { there += value == value ? 1 : 0; });
  return ranked_of_there(task, there, value_at<T>(task, row, col, channel), [&](std::int64_t rank) {
    const auto find = [&](auto found, int bits, auto most, const auto& as_value) {
      for (int bit = bits - 1; bit >= 0; --bit) {
        const auto next = found + (static_cast<decltype(found)>(1) << bit);
        if (next > most) continue;
        const A bound = as_value(next);
        int less = 0;
        each_value<T>(task, row, col, channel, [&](A value) { less += value < bound ? 1 : 0; });
        if (less <= rank) found = next;
      }
      return as_value(found);
    };
    if (task.bits < 32)
      return find(std::is_signed_v<T> ? -32768 : 0, task.bits, 65535,
                  [](int key) { return static_cast<A>(key); });
    return find(Key(0), static_cast<int>(8 * sizeof(Key)), key_of(A(INFINITY)),
                [](Key key) { return value_of(key); });
  });
}

template <class A>
__global__ void __launch_bounds__(Tuning::kThreads) bisect_windows(const __grid_constant__ Task<A> task) {
  const std::int64_t element = static_cast<std::int64_t>(blockIdx.x) * Tuning::kThreads + threadIdx.x;
  if (element >= task.out.cols * task.channels) return;
  const std::int64_t col = task.out.col + element / task.channels, channel = element % task.channels;
  device::visit(task.in.type, [&]<class T>(T) {
    for (std::int64_t y = blockIdx.y; y < task.out.rows; y += gridDim.y)
      task.store(y, element, bisect<T>(task, task.out.row + y, col, channel));
  });
}

// A network.

/// A comparison: where the values of a and b lie in a warp's memory, and where low and high go; kNowhere is
/// not stored. Of a term low and high are nowhere.
struct Step {
  std::uint16_t a, b, low, high;
};
constexpr std::uint16_t kNowhere = 0xffff;

struct StepsByValue {
  Step step[Tuning::kStepsByValue];
};

__global__ void store_steps(const __grid_constant__ StepsByValue part, Step* to, int count) {
  for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x))
    to[i] = part.step[i];
}

struct DeviceNetwork {
  const Step* steps;
  int comparisons, terms;
  int values;   ///< of a warp's memory
  int outputs;  ///< of a warp
};

__device__ __forceinline__ Step load_step(const Step* from) {
  const uint2 words = __ldg(reinterpret_cast<const uint2*>(from));
  return {static_cast<std::uint16_t>(words.x), static_cast<std::uint16_t>(words.x >> 16),
          static_cast<std::uint16_t>(words.y), static_cast<std::uint16_t>(words.y >> 16)};
}

/// The ranked values of a warp's row, kVectors of them a lane. `memory` holds its rows.
template <class A>
__device__ __forceinline__ void go_through(const DeviceNetwork& network, A* memory, int lane,
                                           A (&result)[Tuning::kVectors]) {
  Step next = load_step(network.steps);
  for (int i = 1; i <= network.comparisons; ++i) {
    const Step step = next;
    next = load_step(network.steps + i);  // there is a term after the last comparison
    A low[Tuning::kVectors], high[Tuning::kVectors];
#pragma unroll
    for (int k = 0; k < Tuning::kVectors; ++k) {
      const A a = memory[step.a + lane + 32 * k], b = memory[step.b + lane + 32 * k];
      low[k] = fmin(a, b);
      high[k] = fmax(a, b);
    }
    __syncwarp();
#pragma unroll
    for (int k = 0; k < Tuning::kVectors; ++k) {
      if (step.low != kNowhere) memory[step.low + lane + 32 * k] = low[k];
      if (step.high != kNowhere) memory[step.high + lane + 32 * k] = high[k];
    }
    __syncwarp();
  }
  for (int i = 0; i < network.terms; ++i) {
    const Step step = load_step(network.steps + network.comparisons + i);
#pragma unroll
    for (int k = 0; k < Tuning::kVectors; ++k) {
      const A greater = fmax(memory[step.a + lane + 32 * k], memory[step.b + lane + 32 * k]);
      result[k] = i == 0 ? greater : fmin(result[k], greater);
    }
  }
}

template <class A>
__global__ void __launch_bounds__(32 * Tuning::kMostWarps)
    sort_by_network(const __grid_constant__ Task<A> task, const DeviceNetwork network) {
  extern __shared__ double shared[];
  const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
  A* const memory = reinterpret_cast<A*>(shared) + warp * network.values;
  const std::int64_t first =
      (static_cast<std::int64_t>(blockIdx.x) * (blockDim.x / 32) + warp) * network.outputs;
  const std::int64_t elements = task.out.cols * task.channels;
  if (first >= elements) return;
  const OrderWindow& window = task.window;
  const int rows = static_cast<int>(window.up + 1 + window.down);
  // Elements under the warp's windows, and no more.
  const std::int64_t end = elements + (window.left + window.right) * task.channels;
  for (std::int64_t y = blockIdx.y; y < task.out.rows; y += gridDim.y) {
    const std::int64_t row = task.out.row + y;
    bool numbers = true;
    device::visit(task.in.type, [&]<class T>(T) {
#pragma unroll
      for (int k = 0; k < Tuning::kVectors; ++k) {
        const std::int64_t element = first + lane + 32 * k;
        const std::int64_t col = task.out.col - window.left + element / task.channels;
        const std::int64_t x = element < end ? border_index(col, task.image.cols, task.border) : -1;
        const std::int64_t at = (x - task.in_rect.col) * task.channels + element % task.channels;
        for (int i = 0; i < rows; ++i) {
          const std::int64_t from = border_index(row - window.up + i, task.image.rows, task.border);
          A value = task.constant;
          if (from >= 0 && x >= 0)
            value = static_cast<A>(task.in.template row<const T>(from - task.in_rect.row)[at]);
          numbers = numbers && (value == value || element >= end);
          memory[i * Tuning::kWidth + lane + 32 * k] = value;
        }
      }
    });
    __syncwarp();
    A result[Tuning::kVectors]{};
    if (__all_sync(0xffffffffU, numbers)) {
      go_through(network, memory, lane, result);
    } else {
      // Of integers there is none, and borders of NaN are not for networks.
      const auto bisect_all = [&]<class T>(T) {
        for (int k = 0; k < Tuning::kVectors; ++k) {
          const std::int64_t element = first + lane + 32 * k;
          if (lane + 32 * k < network.outputs && element < elements)
            result[k] = bisect<T>(task, row, task.out.col + element / task.channels, element % task.channels);
        }
      };
      if (task.in.type == PixelType::f32) bisect_all(float());
      if (task.in.type == PixelType::f64) bisect_all(double());
    }
#pragma unroll
    for (int k = 0; k < Tuning::kVectors; ++k) {
      const std::int64_t element = first + lane + 32 * k;
      if (lane + 32 * k < network.outputs && element < elements) task.store(y, element, result[k] + A(0));
    }
    __syncwarp();
  }
}

/// What a warp's values take; and results among a row of them.
int values_of(const SortingNetwork& network) {
  return static_cast<int>(network.slots() + 1) * Tuning::kWidth;  // shifts reach beyond the last slot
}
std::int64_t outputs_of(const OrderWindow& window, std::int64_t channels) {
  return Tuning::kWidth - (window.cols() - 1) * channels;
}
int warps_of(const SortingNetwork& network, std::int64_t element_bytes) {
  return std::min<int>(Tuning::kMostWarps,
                       static_cast<int>(Tuning::kSharedBytes / (values_of(network) * element_bytes)));
}

bool takes_network(const OrderFilter& filter, std::int64_t channels, Arithmetic arithmetic) {
  return filter.network && outputs_of(filter.window, channels) >= Tuning::kLeastOutputs &&
         warps_of(*filter.network, size_of(pixel_type_of(arithmetic))) > 0;
}

/// 3 or 5 of such a window whose values fit into registers, else 0.
int sorted_side(const OrderWindow& window, Arithmetic arithmetic) {
  for (const int side : {3, 5})
    if (window == OrderWindow{side / 2, side / 2, side / 2, side / 2})
      return side == 5 && arithmetic == Arithmetic::f64 ? 0 : side;
  return 0;
}

std::vector<Step> steps_of(const SortingNetwork& network, std::int64_t channels) {
  const auto at = [&](const ShiftedSlot& value) {
    return static_cast<std::uint16_t>(value.slot * Tuning::kWidth + value.shift * channels);
  };
  const auto target = [](std::int32_t slot) {
    return slot < 0 ? kNowhere : static_cast<std::uint16_t>(slot * Tuning::kWidth);
  };
  std::vector<Step> steps;
  for (const SortingNetwork::Comparison& one : network.comparisons())
    steps.push_back({at(one.a), at(one.b), target(one.low), target(one.high)});
  for (const SortingNetwork::Term& term : network.terms())
    steps.push_back({at(term.a), at(term.b), kNowhere, kNowhere});
  return steps;
}

std::int64_t step_count(const SortingNetwork& network) {
  return static_cast<std::int64_t>(network.comparisons().size() + network.terms().size());
}

/// Steps in the arena, written in the order of the stream.
const Step* steps_on_device(const std::vector<Step>& steps, Arena& arena, DeviceStream stream) {
  Step* const memory = arena.allocate<Step>(static_cast<std::int64_t>(steps.size()));
  for (std::size_t first = 0; first < steps.size(); first += Tuning::kStepsByValue) {
    const std::size_t count = std::min<std::size_t>(Tuning::kStepsByValue, steps.size() - first);
    StepsByValue part{};
    std::copy_n(steps.begin() + static_cast<std::ptrdiff_t>(first), count, part.step);
    store_steps<<<1, Tuning::kThreads, 0, stream>>>(part, memory + first, static_cast<int>(count));
  }
  return memory;
}

dim3 grid_for(std::int64_t blocks, std::int64_t rows) {
  return {static_cast<unsigned>(blocks), static_cast<unsigned>(std::min(rows, Tuning::kMaxGridRows))};
}

template <class A>
void launch_network(const OrderFilter& filter, const Task<A>& task, Arena& arena, DeviceStream stream) {
  const SortingNetwork& network = *filter.network;
  const Arena::Scope scope(arena);
  const DeviceNetwork on_device{steps_on_device(steps_of(network, task.channels), arena, stream),
                                static_cast<int>(network.comparisons().size()),
                                static_cast<int>(network.terms().size()), values_of(network),
                                static_cast<int>(outputs_of(filter.window, task.channels))};
  const std::int64_t elements = task.out.cols * task.channels;
  const int most = warps_of(network, sizeof(A));
  const int warps = static_cast<int>(std::min<std::int64_t>(most, ceil_div(elements, on_device.outputs)));
  const auto shared =
      static_cast<std::size_t>(warps) * static_cast<std::size_t>(on_device.values) * sizeof(A);
  sort_by_network<A><<<grid_for(ceil_div(elements, std::int64_t{warps} * on_device.outputs), task.out.rows),
                       static_cast<unsigned>(32 * warps), shared, stream>>>(task, on_device);
}

/// Of integers that are compared as such, their bits.
int bits_of(PixelType type, const Border& border) {
  if (is_floating(type) || (border.mode == BorderMode::constant && border.value != 0)) return 64;
  return type == PixelType::u8 ? 8 : 16;
}

template <class A>
void launch(const OrderFilter& filter, const Task<A>& task, Arithmetic arithmetic, Arena& arena,
            DeviceStream stream) {
  const dim3 grid = grid_for(ceil_div(task.out.cols * task.channels, Tuning::kThreads), task.out.rows);
  const int side = sorted_side(filter.window, arithmetic);
  if (side == 3) return sort_in_registers<A, 3><<<grid, Tuning::kThreads, 0, stream>>>(task);
  if constexpr (sizeof(A) == 4)
    if (side == 5) return sort_in_registers<A, 5><<<grid, Tuning::kThreads, 0, stream>>>(task);
  if (takes_network(filter, task.channels, arithmetic) && task.constant == task.constant)
    return launch_network(filter, task, arena, stream);
  bisect_windows<A><<<grid, Tuning::kThreads, 0, stream>>>(task);
}

}  // namespace

void order(const OrderFilter& filter, const Border& border, const ConstRegion& in, const Region& out,
           Arithmetic arithmetic, Arena& arena, DeviceStream stream, std::span<const PointwiseOp> then) {
  visit_arithmetic(arithmetic, [&]<class A>(std::type_identity<A>) {
    launch<A>(filter,
              {device::Rows(in.pixels), in.rect, out.rect, out.image, out.pixels.channels, filter.window,
               filter.rank, filter.missing, border.mode, static_cast<A>(border.value),
               bits_of(in.pixels.type, border), device::Store<A>(out.pixels, then)},
              arithmetic, arena, stream);
  });
  check_cuda(cudaGetLastError(), "launching an order statistic");
}

std::int64_t order_bytes(const OrderFilter& filter, std::int64_t channels, Arithmetic arithmetic) {
  if (sorted_side(filter.window, arithmetic) != 0 || !takes_network(filter, channels, arithmetic)) return 0;
  return Arena::bytes_for(step_count(*filter.network) * static_cast<std::int64_t>(sizeof(Step)));
}

}  // namespace sepconv::engine
