// Statistics on the device: moments with one block per cell, and histograms in shared memory if they fit. CUB
// reduces values whose order does not matter (counts, minimum, maximum). Sums are reduced here, because CUB
// documents no order, and it differs between its algorithms. CUB's histograms start at zero with every call,
// support at most four channels and keep only 256 bins in shared memory.
#include <cuda_runtime.h>

#include <algorithm>
#include <cub/block/block_reduce.cuh>

#include "kernels/cuda/device_pixel.cuh"
#include "kernels/reduce/reduce.hpp"

namespace sepconv::engine {
namespace {

using Count = unsigned long long;  // a type that atomicAdd supports

constexpr int kThreads = 256;
constexpr int kBlocksAcross = 64;  // along a row
constexpr int kBlocks = 2048;  // enough to fill any GPU, few enough that adding their tables costs nothing
constexpr std::int64_t kMaxSharedCounts = 12288;  // 48 KiB, available to a block on every GPU
constexpr std::int64_t kMaxCellBlocks = 1 << 20;
constexpr unsigned kFullWarp = 0xFFFFFFFFU;

/// The table entry of an integer value.
template <class T>
struct ValueEntry {
  __device__ std::int64_t operator()(int channel, T value) const {
    constexpr int kMin = std::is_signed_v<T> ? -32768 : 0;
    return static_cast<std::int64_t>(channel) * (1 << (8 * sizeof(T))) + (static_cast<int>(value) - kMin);
  }
};

/// The table entry of a floating value, or -1.
template <class T>
struct BinEntry {
  const BinScale* scales;
  __device__ std::int64_t operator()(int channel, T value) const {
    const int bin = scales[channel].bin(static_cast<double>(value));
    return bin < 0 ? -1 : static_cast<std::int64_t>(channel) * kBins + bin;
  }
};

/// Counts in a separate table for each block, `size` unsigned integers in dynamic shared memory.
struct SharedTable {
  std::int64_t size;
  static __device__ unsigned* table() {
    extern __shared__ unsigned shared_counts[];
    return shared_counts;
  }
  __device__ void begin() const {
    for (std::int64_t i = threadIdx.x; i < size; i += kThreads) table()[i] = 0;
    __syncthreads();
  }
  __device__ void add(std::int64_t entry, Count*) const {
    if (entry >= 0) atomicAdd(table() + entry, 1U);
  }
  __device__ void end(Count* counts) const {
    __syncthreads();
    for (std::int64_t i = threadIdx.x; i < size; i += kThreads) {
      if (table()[i] > 0) atomicAdd(counts + i, static_cast<Count>(table()[i]));
    }
  }
};

/// Counts in device memory, with one atomic for all threads of a warp with the same entry; in smooth images
/// most have.
struct GlobalTable {
  __device__ void begin() const {}
  __device__ void add(std::int64_t entry, Count* counts) const {
    const unsigned same_entry = __match_any_sync(kFullWarp, static_cast<Count>(entry));
    const bool is_first = (same_entry & ((1U << (threadIdx.x % 32)) - 1)) == 0;
    if (is_first && entry >= 0) atomicAdd(counts + entry, static_cast<Count>(__popc(same_entry)));
  }
  __device__ void end(Count*) const {}
};

/// Blocks stride over `rows` rows of `elements` elements. All threads of a block iterate equally often,
/// because Table::add() may synchronise a warp.
template <class T, class EntryOf, class Table>
__global__ void __launch_bounds__(kThreads)
    count_elements(const device::Rows in, std::int64_t rows, std::int64_t elements, int channels,
                   EntryOf entry_of, Table table, Count* counts) {
  table.begin();
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kThreads;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kThreads;
  const int first_channel = static_cast<int>((first + threadIdx.x) % channels);
  const int channel_step = static_cast<int>(step % channels);
  for (std::int64_t row = blockIdx.y; row < rows; row += gridDim.y) {
    const T* values = in.row<const T>(row);
    int channel = first_channel;
    for (std::int64_t begin = first; begin < elements; begin += step) {
      const std::int64_t element = begin + threadIdx.x;
      table.add(element < elements ? entry_of(channel, values[element]) : -1, counts);
      channel += channel_step;
      if (channel >= channels) channel -= channels;
    }
  }
  table.end(counts);
}

template <class T, class EntryOf>
void launch_count(const ConstPixelView& in, EntryOf entry_of, std::int64_t table_size, std::int64_t* counts,
                  DeviceStream stream) {
  const std::int64_t elements = in.row_elements();
  const std::int64_t across = std::min<std::int64_t>(ceil_div(elements, kThreads), kBlocksAcross);
  const std::int64_t down = std::min<std::int64_t>(in.extent.rows, kBlocks / across);
  const dim3 grid(static_cast<unsigned>(across), static_cast<unsigned>(down));
  const auto launch = [&](auto table, std::size_t shared_bytes) {
    count_elements<T><<<grid, kThreads, shared_bytes, stream>>>(device::Rows(in), in.extent.rows, elements,
                                                                static_cast<int>(in.channels), entry_of,
                                                                table, reinterpret_cast<Count*>(counts));
  };
  // A block's own counts have 32 bits.
  const bool fits =
      table_size <= kMaxSharedCounts && in.extent.area() * in.channels < (std::int64_t{1} << 32);
  if (fits) {
    launch(SharedTable{table_size}, static_cast<std::size_t>(table_size) * sizeof(unsigned));
  } else {
    launch(GlobalTable{}, 0);
  }
  check_cuda(cudaGetLastError(), "launching a histogram");
}

/// The sum of all lanes' values, added half by half; returned to all threads. `shared` has kMomentLanes
/// values.
__device__ double lane_sum(double value, double* shared) {
  const int lane = static_cast<int>(threadIdx.x);
  __syncthreads();  // all threads have read the previous sum
  shared[lane] = value;
  for (int half = kMomentLanes / 2; half > 0; half /= 2) {
    __syncthreads();
    if (lane < half) shared[lane] += shared[lane + half];
  }
  __syncthreads();
  return shared[0];
}

/// Range and count of a lane's numbers.
struct Range {
  double min, max;
  std::int64_t count;
};
struct MergeRanges {
  __device__ Range operator()(const Range& a, const Range& b) const {
    return {b.min < a.min ? b.min : a.min, a.max < b.max ? b.max : a.max, a.count + b.count};
  }
};

/// The grid of cells of a view.
struct CellGrid {
  Extent view, cell;
  std::int64_t across, count;
  int channels;
};

/// One thread per lane. See kMomentLanes for the order of the sums, and cell_moments for the formulas.
template <class T>
__device__ void measure_cell(const device::Rows& in, const CellGrid& grid, std::int64_t index,
                             Moments* moments) {
  __shared__ double shared[kMomentLanes];
  __shared__ std::int64_t shared_count;
  using Reduction = cub::BlockReduce<Range, kMomentLanes>;
  __shared__ typename Reduction::TempStorage storage;
  const std::int64_t cell = index / grid.channels;
  const std::int64_t row = cell / grid.across * grid.cell.rows;
  const std::int64_t col = cell % grid.across * grid.cell.cols;
  const std::int64_t rows = min(grid.cell.rows, grid.view.rows - row);
  const std::int64_t cols = min(grid.cell.cols, grid.view.cols - col);
  const std::int64_t first = col * grid.channels + index % grid.channels;
  const auto for_each_value = [&](auto visit) {
    for (std::int64_t y = 0; y < rows; ++y) {
      const T* values = in.row<const T>(row + y) + first;
#pragma unroll 8
      for (std::int64_t x = threadIdx.x; x < cols; x += kMomentLanes)
        visit(static_cast<double>(values[x * grid.channels]));
    }
  };

  const double infinity = __longlong_as_double(0x7FF0000000000000LL);
  Range range{infinity, -infinity, 0};
  double sum = 0;
  for_each_value([&](double value) {
    const bool is_number = value == value;
    range.count += is_number ? 1 : 0;
    sum += is_number ? value : 0.0;
    range.min = value < range.min ? value : range.min;
    range.max = range.max < value ? value : range.max;
  });
  range = Reduction(storage).Reduce(range, MergeRanges{});  // complete in thread 0 only
  if (threadIdx.x == 0) shared_count = range.count;
  sum = lane_sum(sum, shared);
  const std::int64_t count = shared_count;  // added() has synchronised the threads
  const double mean = sum / static_cast<double>(count);
  double distances = 0, squares = 0;
  if (count > 0) {
    for_each_value([&](double value) {
      const double distance = value - mean;
      distances += value == value ? distance : 0.0;
      squares += value == value ? distance * distance : 0.0;
    });
  }
  distances = lane_sum(distances, shared);
  squares = lane_sum(squares, shared);
  if (threadIdx.x != 0) return;
  Moments& result = moments[index];
  result.count = count, result.nan_count = rows * cols - count;
  result.min = range.min + 0.0, result.max = range.max + 0.0;
  if (count > 0)
    result.set_sums(mean, distances, squares);
  else
    result.about = result.sum = result.squares = 0;
}

template <class T>
__global__ void __launch_bounds__(kMomentLanes)
    measure_cells(const device::Rows in, const CellGrid grid, Moments* moments) {
  const std::int64_t total = grid.count * grid.channels;
  for (std::int64_t index = blockIdx.x; index < total; index += gridDim.x)
    measure_cell<T>(in, grid, index, moments);
}

}  // namespace

void cell_moments(const ConstPixelView& in, Extent cell, Moments* moments, DeviceStream stream) {
  const std::int64_t across = ceil_div(in.extent.cols, cell.cols);
  const CellGrid grid{in.extent, cell, across, across * ceil_div(in.extent.rows, cell.rows),
                      static_cast<int>(in.channels)};
  const auto blocks = static_cast<unsigned>(std::min(grid.count * in.channels, kMaxCellBlocks));
  if (in.type == PixelType::f32) {
    measure_cells<float><<<blocks, kMomentLanes, 0, stream>>>(device::Rows(in), grid, moments);
  } else {
    measure_cells<double><<<blocks, kMomentLanes, 0, stream>>>(device::Rows(in), grid, moments);
  }
  check_cuda(cudaGetLastError(), "launching the moments of cells");
}

void count_values(const ConstPixelView& in, std::int64_t* counts, DeviceStream stream) {
  const std::int64_t table_size = in.channels * value_count(in.type);
  switch (in.type) {
    case PixelType::u8:
      return launch_count<std::uint8_t>(in, ValueEntry<std::uint8_t>{}, table_size, counts, stream);
    case PixelType::u16:
      return launch_count<std::uint16_t>(in, ValueEntry<std::uint16_t>{}, table_size, counts, stream);
    default:
      return launch_count<std::int16_t>(in, ValueEntry<std::int16_t>{}, table_size, counts, stream);
  }
}

void count_bins(const ConstPixelView& in, const BinScale* scales, std::int64_t* counts, DeviceStream stream) {
  const std::int64_t table_size = in.channels * kBins;
  if (in.type == PixelType::f32)
    return launch_count<float>(in, BinEntry<float>{scales}, table_size, counts, stream);
  launch_count<double>(in, BinEntry<double>{scales}, table_size, counts, stream);
}

}  // namespace sepconv::engine
