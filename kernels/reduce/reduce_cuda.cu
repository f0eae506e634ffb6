// Statistics on the device: a block a cell for moments, and histograms in shared memory where they fit it.
// What has the same bits in any order (counts, least, greatest) CUB joins. Sums do not: CUB documents no
// order, and its own is another for each algorithm, so theirs is written here. Its histograms begin at zero
// with every call, take four channels and share only 256 bins.
#include <cuda_runtime.h>

#include <algorithm>
#include <cub/block/block_reduce.cuh>

#include "kernels/cuda/device_pixel.cuh"
#include "kernels/reduce/reduce.hpp"

namespace sepconv::engine {
namespace {

using Count = unsigned long long;  // what atomicAdd takes

constexpr int kThreads = 256;
constexpr int kBlocksAcross = 64;  // over a row; the others go down
constexpr int kBlocks = 2048;  // enough to fill any GPU, few enough that adding up their tables costs nothing
constexpr std::int64_t kMaxSharedCounts = 12288;  // 48 KiB, which every GPU gives a block
constexpr std::int64_t kMaxCellBlocks = 1 << 20;
constexpr unsigned kFullWarp = 0xFFFFFFFFU;

/// The entry of a table that an integer belongs to.
template <class T>
struct ValueEntry {
  __device__ std::int64_t operator()(int channel, T value) const {
    constexpr int kMin = std::is_signed_v<T> ? -32768 : 0;
    return static_cast<std::int64_t>(channel) * (1 << (8 * sizeof(T))) + (static_cast<int>(value) - kMin);
  }
};

/// The same of a floating value, or -1.
template <class T>
struct BinEntry {
  const BinScale* scales;
  __device__ std::int64_t operator()(int channel, T value) const {
    const int bin = scales[channel].bin(static_cast<double>(value));
    return bin < 0 ? -1 : static_cast<std::int64_t>(channel) * kBins + bin;
  }
};

/// Counts in a table of the block's own. Dynamic shared memory: `size` unsigned.
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

/// Counts in device memory, once for all threads of a warp that have the same entry: in smooth images most
/// do.
struct GlobalTable {
  __device__ void begin() const {}
  __device__ void add(std::int64_t entry, Count* counts) const {
    const unsigned equal = __match_any_sync(kFullWarp, static_cast<Count>(entry));
    const bool is_first = (equal & ((1U << (threadIdx.x % 32)) - 1)) == 0;
    if (is_first && entry >= 0) atomicAdd(counts + entry, static_cast<Count>(__popc(equal)));
  }
  __device__ void end(Count*) const {}
};

/// Blocks stride over `rows` rows of `elements` elements. All threads of a block go round equally often, for
/// the table's sake.
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

/// The lanes' values added half by half, for all. `shared` holds kMomentLanes.
__device__ double added(double value, double* shared) {
  const int lane = static_cast<int>(threadIdx.x);
  __syncthreads();  // all have read the sum before
  shared[lane] = value;
  for (int half = kMomentLanes / 2; half > 0; half /= 2) {
    __syncthreads();
    if (lane < half) shared[lane] += shared[lane + half];
  }
  __syncthreads();
  return shared[0];
}

/// What a lane's numbers are between, and how many there are.
struct Range {
  double least, greatest;
  std::int64_t count;
};
struct JoinRanges {
  __device__ Range operator()(const Range& a, const Range& b) const {
    return {b.least < a.least ? b.least : a.least, a.greatest < b.greatest ? b.greatest : a.greatest,
            a.count + b.count};
  }
};

/// The grid of cells that a view is measured in.
struct CellGrid {
  Extent view, cell;
  std::int64_t across, count;
  int channels;
};

/// A thread is a lane. See kMomentLanes for the order of the sums, and cell_moments for the formulas.
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
    range.least = value < range.least ? value : range.least;
    range.greatest = range.greatest < value ? value : range.greatest;
  });
  range = Reduction(storage).Reduce(range, JoinRanges{});  // all of it in thread 0 only
  if (threadIdx.x == 0) shared_count = range.count;
  sum = added(sum, shared);
  const std::int64_t count = shared_count;  // added() has had all threads wait for each other
  const double mean = sum / static_cast<double>(count);
  double distances = 0, squares = 0;
  if (count > 0) {
    for_each_value([&](double value) {
      const double distance = value - mean;
      distances += value == value ? distance : 0.0;
      squares += value == value ? distance * distance : 0.0;
    });
  }
  distances = added(distances, shared);
  squares = added(squares, shared);
  if (threadIdx.x != 0) return;
  Moments& result = moments[index];
  result.count = count, result.nan_count = rows * cols - count;
  result.min = range.least + 0.0, result.max = range.greatest + 0.0;
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
