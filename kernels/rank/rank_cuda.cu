// Order statistics on the device by three methods. Windows of 3 x 3 and 5 x 5 are sorted in a thread's
// registers. For others a warp executes a SortingNetwork in shared memory, with two values of each slot per
// lane, so that neighbours share sorted columns as on the CPU. Bisection supports any window: it counts the
// values below a bound. Windows with NaN use the first or the last method.
#include <cuda_runtime.h>

#include <algorithm>
#include <vector>

#include "kernels/rank/sort_by_network.cuh"
#include "kernels/rank/sort_in_registers.cuh"
#include "kernels/rank/sorting_network.hpp"

namespace sepconv::engine {
namespace {

using namespace rank_kernels;

__global__ void store_steps(const __grid_constant__ StepsByValue part, Step* to, int count) {
  for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x))
    to[i] = part.step[i];
}

/// Values of a warp in shared memory, and results of a warp.
int values_of(const SortingNetwork& network) {
  return static_cast<int>(network.slots() + 1) * Tuning::kWidth;  // shifts reach beyond the last slot
}
std::int64_t outputs_of(const RankWindow& window, std::int64_t channels) {
  return Tuning::kWidth - (window.cols() - 1) * channels;
}
int warps_of(const SortingNetwork& network, std::int64_t element_bytes) {
  return std::min<int>(Tuning::kMaxWarps,
                       static_cast<int>(Tuning::kSharedBytes / (values_of(network) * element_bytes)));
}

bool uses_network(const RankFilter& filter, std::int64_t channels, Arithmetic arithmetic) {
  return filter.network && outputs_of(filter.window, channels) >= Tuning::kMinOutputs &&
         warps_of(*filter.network, size_of(pixel_type_of(arithmetic))) > 0;
}

/// 3 for 3 x 3, 5 for 5 x 5, 27 for 3 x 3 x 3 windows whose values fit into registers, else 0.
int sorted_side(const RankWindow& window, Arithmetic arithmetic) {
  if (window == RankWindow{1, 1, 1, 1}) return 3;
  if (arithmetic == Arithmetic::f64) return 0;
  if (window == RankWindow{1, 1, 1, 1, 1, 1}) return 27;
  return window == RankWindow{2, 2, 2, 2} ? 5 : 0;
}

std::vector<Step> steps_of(const SortingNetwork& network, std::int64_t channels) {
  const auto at = [&](const ShiftedSlot& value) {
    return static_cast<std::uint16_t>(value.slot * Tuning::kWidth + value.shift * channels);
  };
  const auto target = [](std::int32_t slot) {
    return slot < 0 ? kNowhere : static_cast<std::uint16_t>(slot * Tuning::kWidth);
  };
  std::vector<Step> steps;
  for (const SortingNetwork::Comparison& comparison : network.comparisons())
    steps.push_back({at(comparison.a), at(comparison.b), target(comparison.low), target(comparison.high)});
  for (const SortingNetwork::Term& term : network.terms())
    steps.push_back({at(term.a), at(term.b), kNowhere, kNowhere});
  return steps;
}

std::int64_t step_count(const SortingNetwork& network) {
  return static_cast<std::int64_t>(network.comparisons().size() + network.terms().size());
}

/// Copies steps to the arena in stream order.
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

dim3 grid_for(std::int64_t blocks, std::int64_t rows, std::size_t results) {
  return {static_cast<unsigned>(blocks), static_cast<unsigned>(std::min(rows, Tuning::kMaxGridRows)),
          static_cast<unsigned>(results)};
}

template <class A>
void launch_network(const RankFilter& filter, const Task<A>& task, std::size_t results, Arena& arena,
                    DeviceStream stream) {
  const SortingNetwork& network = *filter.network;
  const Arena::Scope scope(arena);
  const DeviceNetwork device_network{steps_on_device(steps_of(network, task.channels), arena, stream),
                                     static_cast<int>(network.comparisons().size()),
                                     static_cast<int>(network.terms().size()), values_of(network),
                                     static_cast<int>(outputs_of(filter.window, task.channels))};
  const std::int64_t elements = task.out.cols * task.channels;
  const int max_warps = warps_of(network, sizeof(A));
  const int warps =
      static_cast<int>(std::min<std::int64_t>(max_warps, ceil_div(elements, device_network.outputs)));
  const auto shared =
      static_cast<std::size_t>(warps) * static_cast<std::size_t>(device_network.values) * sizeof(A);
  sort_by_network<A>
      <<<grid_for(ceil_div(elements, std::int64_t{warps} * device_network.outputs), task.out.rows, results),
         static_cast<unsigned>(32 * warps), shared, stream>>>(task, device_network);
}

/// Bits of the values for bisection: 8 or 16 for integers that are compared as such, else 64.
int bits_of(PixelType type, const Border& border) {
  if (is_floating(type) || (border.mode == BorderMode::constant && border.value != 0)) return 64;
  return type == PixelType::u8 ? 8 : 16;
}

template <class A>
void launch(const RankFilter& filter, const Task<A>& task, std::size_t results, Arithmetic arithmetic,
            Arena& arena, DeviceStream stream) {
  const dim3 grid =
      grid_for(ceil_div(task.out.cols * task.channels, Tuning::kThreads), task.out.rows, results);
  const int side = sorted_side(filter.window, arithmetic);
  if (side == 3) return sort_in_registers<A, 3, 1><<<grid, Tuning::kThreads, 0, stream>>>(task);
  if constexpr (sizeof(A) == 4) {
    if (side == 5) return sort_in_registers<A, 5, 1><<<grid, Tuning::kThreads, 0, stream>>>(task);
    if (side == 27) return sort_in_registers<A, 3, 3><<<grid, Tuning::kThreads, 0, stream>>>(task);
  }
  if (uses_network(filter, task.channels, arithmetic) && task.constant == task.constant)
    return launch_network(filter, task, results, arena, stream);
  bisect_windows<A><<<grid, Tuning::kThreads, 0, stream>>>(task);
}

}  // namespace

void order(const RankFilter& filter, const Border& border, std::span<const ConstRegion> planes,
           std::span<const Region> outs, Arithmetic arithmetic, Arena& arena, DeviceStream stream,
           std::span<const PointwiseOp> then) {
  const Region& out = outs.front();
  const ConstRegion& centre = planes[static_cast<std::size_t>(filter.window.front)];
  visit_arithmetic(arithmetic, [&]<class A>(std::type_identity<A>) {
    Task<A> task{device::Rows(centre.pixels),
                 centre.rect,
                 out.rect,
                 out.image,
                 out.pixels.channels,
                 filter.window,
                 filter.rank,
                 filter.missing,
                 border.mode,
                 static_cast<A>(border.value),
                 bits_of(centre.pixels.type, border),
                 device::Store<A>(out.pixels, then),
                 {},
                 {}};
    for (std::size_t i = 0; i < planes.size(); ++i) task.planes[i] = planes[i].pixels.data;
    for (std::size_t i = 0; i < outs.size(); ++i) task.results[i] = outs[i].pixels.data;
    launch<A>(filter, task, outs.size(), arithmetic, arena, stream);
  });
  check_cuda(cudaGetLastError(), "launching an order statistic");
}

std::int64_t rank_bytes(const RankFilter& filter, std::int64_t channels, Arithmetic arithmetic) {
  if (sorted_side(filter.window, arithmetic) != 0 || !uses_network(filter, channels, arithmetic)) return 0;
  return Arena::bytes_for(step_count(*filter.network) * static_cast<std::int64_t>(sizeof(Step)));
}

}  // namespace sepconv::engine
