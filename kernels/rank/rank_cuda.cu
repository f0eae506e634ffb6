// Order statistics on the device, in three ways: windows of 3 x 3 and 5 x 5 are sorted in a thread's
// registers; a warp goes through the comparisons of a SortingNetwork in shared memory, with two values of
// each slot a lane, so that neighbours share sorted columns as on the CPU; and any window by bisection: how
// many of its values are less than this? A window that has NaN goes the first way or the last.
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

/// What a warp's values take; and results among a row of them.
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

bool takes_network(const RankFilter& filter, std::int64_t channels, Arithmetic arithmetic) {
  return filter.network && outputs_of(filter.window, channels) >= Tuning::kMinOutputs &&
         warps_of(*filter.network, size_of(pixel_type_of(arithmetic))) > 0;
}

/// 3 or 5 of such a window, or 27 of 3 x 3 x 3, whose values fit into registers, else 0.
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

dim3 grid_for(std::int64_t blocks, std::int64_t rows, std::size_t results) {
  return {static_cast<unsigned>(blocks), static_cast<unsigned>(std::min(rows, Tuning::kMaxGridRows)),
          static_cast<unsigned>(results)};
}

template <class A>
void launch_network(const RankFilter& filter, const Task<A>& task, std::size_t results, Arena& arena,
                    DeviceStream stream) {
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
  sort_by_network<A>
      <<<grid_for(ceil_div(elements, std::int64_t{warps} * on_device.outputs), task.out.rows, results),
         static_cast<unsigned>(32 * warps), shared, stream>>>(task, on_device);
}

/// For integers that are compared as such, their bits.
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
  if (takes_network(filter, task.channels, arithmetic) && task.constant == task.constant)
    return launch_network(filter, task, results, arena, stream);
  bisect_windows<A><<<grid, Tuning::kThreads, 0, stream>>>(task);
}

}  // namespace

void order(const RankFilter& filter, const Border& border, std::span<const ConstRegion> planes,
           std::span<const Region> outs, Arithmetic arithmetic, Arena& arena, DeviceStream stream,
           std::span<const PointwiseOp> then) {
  const Region& out = outs.front();
  const ConstRegion& own = planes[static_cast<std::size_t>(filter.window.front)];
  visit_arithmetic(arithmetic, [&]<class A>(std::type_identity<A>) {
    Task<A> task{device::Rows(own.pixels),
                 own.rect,
                 out.rect,
                 out.image,
                 out.pixels.channels,
                 filter.window,
                 filter.rank,
                 filter.missing,
                 border.mode,
                 static_cast<A>(border.value),
                 bits_of(own.pixels.type, border),
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
  if (sorted_side(filter.window, arithmetic) != 0 || !takes_network(filter, channels, arithmetic)) return 0;
  return Arena::bytes_for(step_count(*filter.network) * static_cast<std::int64_t>(sizeof(Step)));
}

}  // namespace sepconv::engine
