// A warp executes the comparisons of a SortingNetwork, with the values of each slot in shared memory. Private
// to rank_cuda.cu.
#pragma once

#include "kernels/rank/rank_by_bisection.cuh"

namespace sepconv::rank_kernels {

/// A comparison: offsets in a warp's memory of the operands a and b and of the results low and high; kNowhere
/// is not stored. For a term low and high are kNowhere.
struct Step {
  std::uint16_t a, b, low, high;
};
constexpr std::uint16_t kNowhere = 0xffff;

struct StepsByValue {
  Step step[Tuning::kStepsByValue];
};

struct DeviceNetwork {
  const Step* steps;
  int comparisons, terms;
  int values;   ///< values in a warp's memory
  int outputs;  ///< results of a warp
};

__device__ __forceinline__ Step load_step(const Step* from) {
  const uint2 words = __ldg(reinterpret_cast<const uint2*>(from));
  return {static_cast<std::uint16_t>(words.x), static_cast<std::uint16_t>(words.x >> 16),
          static_cast<std::uint16_t>(words.y), static_cast<std::uint16_t>(words.y >> 16)};
}

/// The ranked values of a warp's row, kVectors per lane. `memory` contains its rows.
template <class A>
__device__ __forceinline__ void run_network(const DeviceNetwork& network, A* memory, int lane,
                                            A (&result)[Tuning::kVectors]) {
  Step next = load_step(network.steps);
  for (int i = 1; i <= network.comparisons; ++i) {
    const Step step = next;
    next = load_step(network.steps + i);  // after the last comparison: the first term
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
__global__ void __launch_bounds__(32 * Tuning::kMaxWarps)
    sort_by_network(const __grid_constant__ Task<A> task, const DeviceNetwork network) {
  extern __shared__ double shared[];
  const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
  A* const memory = reinterpret_cast<A*>(shared) + warp * network.values;
  const std::int64_t first =
      (static_cast<std::int64_t>(blockIdx.x) * (blockDim.x / 32) + warp) * network.outputs;
  const std::int64_t elements = task.out.cols * task.channels;
  if (first >= elements) return;
  const RankWindow& window = task.window;
  // End of the elements under the warp's windows.
  const std::int64_t end = elements + (window.left + window.right) * task.channels;
  for (std::int64_t y = blockIdx.y; y < task.out.rows; y += gridDim.y) {
    const std::int64_t row = task.out.row + y;
    bool is_nan_free = true;
    device::visit(task.in.type, [&]<class T>(T) {
#pragma unroll
      for (int k = 0; k < Tuning::kVectors; ++k) {
        const std::int64_t element = first + lane + 32 * k;
        const std::int64_t col = task.out.col - window.left + element / task.channels;
        const std::int64_t x = element < end ? task.mapped(col, task.image.cols) : -1;
        const std::int64_t at = (x - task.in_rect.col) * task.channels + element % task.channels;
        A* slot = memory + lane + 32 * k;
        for (int plane = 0; plane < task.plane_count(); ++plane) {
          for (std::int64_t i = row - window.up; i <= row + window.down; ++i, slot += Tuning::kWidth) {
            const std::int64_t from = task.mapped(i, task.image.rows);
            A value = task.constant;
            if (from >= 0 && x >= 0 && task.plane(plane) != nullptr)
              value = static_cast<A>(task.template row<T>(plane, from - task.in_rect.row)[at]);
            is_nan_free = is_nan_free && (value == value || element >= end);
            *slot = value;
          }
        }
      }
    });
    __syncwarp();
    A result[Tuning::kVectors]{};
    if (__all_sync(0xffffffffU, is_nan_free)) {
      run_network(network, memory, lane, result);
    } else {
      // Only for floating types: integers have no NaN, and NaN borders do not use networks.
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
      if (lane + 32 * k < network.outputs && element < elements)
        task.store_value(y, element, result[k] + A(0));
    }
    __syncwarp();
  }
}
}  // namespace sepconv::rank_kernels
