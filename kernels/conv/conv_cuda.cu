// Separable convolution on the device: a row pass into scratch, then a column pass over it. In both a thread computes several
// neighbouring outputs and slides a window of inputs over the taps, so that a value once in a register serves all of them.
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>

#include "sepconv/core/error.hpp"
#include "sepconv/kernels/conv/conv.hpp"
#include "sepconv/kernels/conv/conv_check.hpp"
#include "sepconv/kernels/pointwise/device_op.cuh"

namespace sepconv {
namespace {

struct ConvCudaTuning {
  static constexpr int kThreads = 256;
  static constexpr int kRowOutputs = 8;     ///< pixels of a row that a thread of the row pass computes
  static constexpr int kBlockCols = 64;     ///< elements of a row that a block of the column pass covers
  static constexpr int kTapsByValue = 1001; ///< filters up to this many taps are a kernel parameter, in constant memory
  static constexpr int kSegmentTaps = 256;  ///< taps whose inputs the row pass stages at once; a multiple of kRowOutputs
  static constexpr int kSharedBytes = 40 << 10;
  static constexpr int kMaxGridRows = 65535;
  /// Rows of output that a thread of the column pass computes, in f32 and in f64, which takes two registers a value.
  static constexpr int kColumnOutputs = 16;
  static constexpr int kColumnOutputsWide = 8;
};
using Tuning = ConvCudaTuning;

template <class A>
constexpr int kColumnOutputs = sizeof(A) == 4 ? Tuning::kColumnOutputs : Tuning::kColumnOutputsWide;

/// Taps as a parameter: constant memory that no other launch can overwrite.
template <class A>
struct TapsByValue {
  A tap[Tuning::kTapsByValue];
  __device__ __forceinline__ A operator[](int k) const { return tap[k]; }
};

/// Longer filters: device memory, written in stream order before the launch.
template <class A>
struct TapsInMemory {
  const A* tap;
  __device__ __forceinline__ A operator[](int k) const { return __ldg(tap + k); }
};

// ---- row pass

template <class A>
struct RowPass {
  device::Rows from;             ///< its first element is that of column in_col
  std::int64_t in_col, in_cols;  ///< columns that `from` holds
  device::Store<A> store;
  std::int64_t rows, elements;
  std::int64_t first_col;  ///< column of element 0 of the result
  std::int64_t image_cols;
  int channels, tap_count, segment_taps;
  BorderMode border;
  A border_value;
};

/// Position in `from` of an element given relative to first_col; -1 where the constant border stands.
template <class A>
__device__ std::int64_t position_in_row(const RowPass<A>& p, std::int64_t element) {
  const std::int64_t index = element - (p.in_col - p.first_col) * p.channels;
  if (index >= 0 && index < p.in_cols * p.channels) return index;
  // Not held means outside the image: the input holds the halo wherever there is one.
  const std::int64_t from_zero = element + p.first_col * p.channels;
  std::int64_t col = from_zero / p.channels;
  std::int64_t channel = from_zero % p.channels;
  if (channel < 0) channel += p.channels, --col;
  const std::int64_t inside = border_index(col, p.image_cols, p.border);
  return inside < 0 ? -1 : (inside - p.in_col) * p.channels + channel;
}

/// Place of staged element i: one word of padding in every kRowOutputs lets neighbouring threads, which read kRowOutputs pixels apart,
/// use different banks.
__device__ __forceinline__ int staged(int i) { return i + i / Tuning::kRowOutputs; }

/// Stages `count` elements of a row from `first` on; zeros from `end` on, which no output needs.
template <class A>
__device__ __forceinline__ void stage_row(const RowPass<A>& p, std::int64_t row, std::int64_t first, int count, std::int64_t end,
                                          A* stage) {
  device::visit(p.from.type, [&]<class T>(T) {
    const T* const from = p.from.template row<const T>(row);
    for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x)) {
      const std::int64_t element = first + i;
      A value = 0;
      if (element < end) {
        const std::int64_t position = position_in_row(p, element);
        value = position < 0 ? p.border_value : static_cast<A>(from[position]);
      }
      stage[staged(i)] = value;
    }
  });
}

/// Adds `taps` taps from k0 on to a thread's sums. The input of output i under tap k is stage[base + (i + k) * step].
template <class A, class Taps, int kOutputs>
__device__ __forceinline__ void slide(const A* stage, int base, int step, const Taps& taps, int k0, int tap_count, A (&sum)[kOutputs]) {
  A window[kOutputs];
#pragma unroll
  for (int i = 0; i < kOutputs; ++i) window[i] = stage[staged(base + i * step)];
  int k = 0;
  for (; k + kOutputs < tap_count; k += kOutputs) {
#pragma unroll
    for (int u = 0; u < kOutputs; ++u) {
      const A tap = taps[k0 + k + u];
#pragma unroll
      for (int i = 0; i < kOutputs; ++i) sum[i] = device::fused_multiply_add(tap, window[(i + u) % kOutputs], sum[i]);
      window[u] = stage[staged(base + (k + u + kOutputs) * step)];
    }
  }
#pragma unroll
  for (int u = 0; u < kOutputs; ++u) {
    if (k + u >= tap_count) break;
    const A tap = taps[k0 + k + u];
#pragma unroll
    for (int i = 0; i < kOutputs; ++i) sum[i] = device::fused_multiply_add(tap, window[(i + u) % kOutputs], sum[i]);
    if (k + u + 1 < tap_count) window[u] = stage[staged(base + (k + u + kOutputs) * step)];
  }
}

/// Block (x, y): as many elements as its threads have outputs, from x times that number on, of the rows y, y + gridDim.y, ...
/// A thread's outputs are one channel of kRowOutputs neighbouring pixels.
template <class A, class Taps>
__global__ void __launch_bounds__(Tuning::kThreads)
    row_pass(const __grid_constant__ RowPass<A> p, const __grid_constant__ Taps taps) {
  extern __shared__ __align__(16) unsigned char shared[];
  A* const stage = reinterpret_cast<A*>(shared);
  constexpr int kOutputs = Tuning::kRowOutputs;
  const int c = p.channels;
  const int groups = static_cast<int>(blockDim.x) / c;  // of kOutputs pixels
  const int group = static_cast<int>(threadIdx.x) / c;
  const int block_elements = groups * kOutputs * c;
  const int base = group * kOutputs * c + static_cast<int>(threadIdx.x) % c;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * block_elements;
  const std::int64_t radius_elements = static_cast<std::int64_t>(p.tap_count / 2) * c;

  for (std::int64_t row = blockIdx.y; row < p.rows; row += gridDim.y) {
    A sum[kOutputs] = {};
    for (int k0 = 0; k0 < p.tap_count; k0 += p.segment_taps) {
      const int taps_here = min(p.segment_taps, p.tap_count - k0);
      // Load: a segment's inputs, border included.
      __syncthreads();
      stage_row(p, row, first - radius_elements + static_cast<std::int64_t>(k0) * c, block_elements + (taps_here - 1) * c,
                p.elements + radius_elements, stage);
      __syncthreads();
      // Accumulate.
      if (group < groups) {
        if (c == 1) {
          slide(stage, base, 1, taps, k0, taps_here, sum);
        } else {
          slide(stage, base, c, taps, k0, taps_here, sum);
        }
      }
    }
    // Store: through shared memory, so that neighbouring threads store neighbouring elements.
    __syncthreads();
    if (group < groups) {
#pragma unroll
      for (int i = 0; i < kOutputs; ++i) stage[staged(base + i * c)] = sum[i];
    }
    __syncthreads();
    const std::int64_t here = min(static_cast<std::int64_t>(block_elements), p.elements - first);
    for (int i = static_cast<int>(threadIdx.x); i < here; i += static_cast<int>(blockDim.x)) {
      p.store(row, first + i, stage[staged(i)]);
    }
  }
}

/// For images of more channels than a block has threads: a thread an element, nothing shared.
template <class A, class Taps>
__global__ void __launch_bounds__(Tuning::kThreads)
    row_pass_many_channels(const __grid_constant__ RowPass<A> p, const __grid_constant__ Taps taps) {
  const std::int64_t element = static_cast<std::int64_t>(blockIdx.x) * Tuning::kThreads + threadIdx.x;
  if (element >= p.elements) return;
  for (std::int64_t row = blockIdx.y; row < p.rows; row += gridDim.y) {
    A sum = 0;
    for (int k = 0; k < p.tap_count; ++k) {
      const std::int64_t position = position_in_row(p, element + static_cast<std::int64_t>(k - p.tap_count / 2) * p.channels);
      sum = device::fused_multiply_add(taps[k], position < 0 ? p.border_value : p.from.template load<A>(row, position), sum);
    }
    p.store(row, element, sum);
  }
}

// ---- column pass

template <class A>
struct ColumnPass {
  const A* from;  ///< filtered rows, dense, from image row from_row on
  std::int64_t from_row, elements;
  device::Store<A> store;
  std::int64_t first_row, rows;  ///< image rows of the result
  std::int64_t image_rows;
  int tap_count;
  BorderMode border;
  A constant_row;     ///< every element of a row outside the image under the constant border
  bool joined;        ///< x becomes join(other, x) before it is stored
  device::Op<A> join;
  device::Rows other;
};

/// Adds all taps to the sums of kOutputs rows. value(j) is the input under tap 0 of row 0, j rows further down.
template <class A, class Taps, int kOutputs, class Value>
__device__ __forceinline__ void slide_down(const Value& value, const Taps& taps, int tap_count, A (&sum)[kOutputs]) {
  A window[kOutputs];
  A next[kOutputs];
#pragma unroll
  for (int i = 0; i < kOutputs; ++i) window[i] = value(i);
  int k = 0;
  for (; k + kOutputs <= tap_count; k += kOutputs) {
    // Load a window ahead: its latency passes behind kOutputs * kOutputs multiply-adds.
#pragma unroll
    for (int i = 0; i < kOutputs; ++i) next[i] = value(k + kOutputs + i);
#pragma unroll
    for (int u = 0; u < kOutputs; ++u) {
      const A tap = taps[k + u];
#pragma unroll
      for (int i = 0; i < kOutputs; ++i) {
        sum[i] = device::fused_multiply_add(tap, i + u < kOutputs ? window[i + u] : next[i + u - kOutputs], sum[i]);
      }
    }
#pragma unroll
    for (int i = 0; i < kOutputs; ++i) window[i] = next[i];
  }
  const int left = tap_count - k;
#pragma unroll
  for (int i = 0; i < kOutputs; ++i) {
    if (i + 1 < left) next[i] = value(k + kOutputs + i);
  }
#pragma unroll
  for (int u = 0; u < kOutputs - 1; ++u) {
    if (u >= left) break;
    const A tap = taps[k + u];
#pragma unroll
    for (int i = 0; i < kOutputs; ++i) {
      sum[i] = device::fused_multiply_add(tap, i + u < kOutputs ? window[i + u] : next[i + u - kOutputs], sum[i]);
    }
  }
}

/// Block (x, y) of kBlockCols x 4 threads: a thread has one element of kColumnOutputs rows; the groups of rows of a block lie below
/// each other, so that they find each other's inputs in the L1 cache.
template <class A, class Taps>
__global__ void __launch_bounds__(Tuning::kThreads)
    column_pass(const __grid_constant__ ColumnPass<A> p, const __grid_constant__ Taps taps) {
  constexpr int kOutputs = kColumnOutputs<A>;
  const std::int64_t element = static_cast<std::int64_t>(blockIdx.x) * Tuning::kBlockCols + threadIdx.x;
  if (element >= p.elements) return;
  const A* const column = p.from + element;
  for (std::int64_t group = static_cast<std::int64_t>(blockIdx.y) * blockDim.y + threadIdx.y; group * kOutputs < p.rows;
       group += static_cast<std::int64_t>(gridDim.y) * blockDim.y) {
    const int height = static_cast<int>(min(static_cast<std::int64_t>(kOutputs), p.rows - group * kOutputs));
    const std::int64_t top = p.first_row + group * kOutputs - p.tap_count / 2;
    const int last = p.tap_count + height - 2;  // of the rows that are needed: those below may not be held
    A sum[kOutputs] = {};
    if (top >= 0 && top + last < p.image_rows) {
      const A* const from = column + (top - p.from_row) * p.elements;
      slide_down([&](int j) { return from[min(j, last) * p.elements]; }, taps, p.tap_count, sum);
    } else {
      const auto bordered = [&](int j) {
        const std::int64_t inside = border_index(top + min(j, last), p.image_rows, p.border);
        return inside < 0 ? p.constant_row : column[(inside - p.from_row) * p.elements];
      };
      slide_down(bordered, taps, p.tap_count, sum);
    }
#pragma unroll
    for (int i = 0; i < kOutputs; ++i) {
      if (i >= height) break;
      const std::int64_t row = group * kOutputs + i;
      const A x = p.joined ? p.join(p.other.template load<A>(row, element), sum[i]) : sum[i];
      p.store(row, element, x);
    }
  }
}

// ---- launchers

/// Writes a part of a long filter, which travels as a parameter, to device memory in stream order.
template <class A>
__global__ void store_taps(const __grid_constant__ TapsByValue<A> part, A* to, int count) {
  for (int k = static_cast<int>(threadIdx.x); k < count; k += static_cast<int>(blockDim.x)) to[k] = part.tap[k];
}

/// Calls launch(taps) with the taps in the place that their number asks for.
template <class A, class Launch>
void with_taps(const std::vector<double>& taps, Arena& arena, DeviceStream stream, const Launch& launch) {
  const auto part_from = [&](std::size_t first, std::size_t count) {
    TapsByValue<A> part{};
    for (std::size_t k = 0; k < count; ++k) part.tap[k] = static_cast<A>(taps[first + k]);
    return part;
  };
  if (taps.size() <= Tuning::kTapsByValue) return launch(part_from(0, taps.size()));
  A* const memory = arena.allocate<A>(static_cast<std::int64_t>(taps.size()));
  for (std::size_t first = 0; first < taps.size(); first += Tuning::kTapsByValue) {
    const std::size_t count = std::min<std::size_t>(Tuning::kTapsByValue, taps.size() - first);
    store_taps<A><<<1, Tuning::kThreads, 0, stream>>>(part_from(first, count), memory + first, static_cast<int>(count));
  }
  launch(TapsInMemory<A>{memory});
}

unsigned grid_rows(std::int64_t rows) { return static_cast<unsigned>(std::min<std::int64_t>(rows, Tuning::kMaxGridRows)); }

/// The row pass of a constant row, as the reference computes it.
template <class A>
A constant_row_value(const std::vector<double>& row_taps, double value) {
  if (row_taps.empty()) return static_cast<A>(value);
  A sum = 0;
  for (const double tap : row_taps) sum = std::fma(static_cast<A>(tap), static_cast<A>(value), sum);
  return sum;
}

/// Threads of a block of the row pass: fewer where a row does not fill the block.
int row_pass_threads(std::int64_t elements, std::int64_t channels) {
  const std::int64_t useful = std::max(channels, ceil_div(elements, Tuning::kRowOutputs));
  return static_cast<int>(std::min<std::int64_t>(Tuning::kThreads, round_up(useful, 32)));
}

template <class A>
void launch_row_pass(const SeparableTaps& taps, const Border& border, const ConstRegion& in, const Rect& rect,
                     const device::Store<A>& store, Arena& arena, DeviceStream stream) {
  const std::int64_t channels = in.pixels.channels;
  RowPass<A> p{.from = device::Rows(in.pixels),
               .in_col = in.rect.col,
               .in_cols = in.rect.cols,
               .store = store,
               .rows = rect.rows,
               .elements = rect.cols * channels,
               .first_col = rect.col,
               .image_cols = in.image.cols,
               .channels = static_cast<int>(channels),
               .tap_count = static_cast<int>(taps.row.size()),
               .segment_taps = 0,
               .border = border.mode,
               .border_value = static_cast<A>(border.value)};
  p.from.data += (rect.row - in.rect.row) * p.from.pitch_bytes;
  if (channels > Tuning::kThreads) {
    const dim3 grid(static_cast<unsigned>(ceil_div(p.elements, Tuning::kThreads)), grid_rows(p.rows));
    return with_taps<A>(taps.row, arena, stream, [&]<class Taps>(const Taps& placed) {
      row_pass_many_channels<A, Taps><<<grid, Tuning::kThreads, 0, stream>>>(p, placed);
    });
  }
  const int threads = row_pass_threads(p.elements, channels);
  const std::int64_t block_elements = threads / channels * Tuning::kRowOutputs * channels;
  // What fits beside the block's own elements, padding included.
  const std::int64_t room = Tuning::kSharedBytes / static_cast<std::int64_t>(sizeof(A)) * Tuning::kRowOutputs / (Tuning::kRowOutputs + 1) - 1;
  const std::int64_t segment = std::min<std::int64_t>((room - block_elements) / channels + 1, Tuning::kSegmentTaps);
  p.segment_taps = static_cast<int>(std::max<std::int64_t>(segment, 1));
  const std::int64_t staged_elements = block_elements + (std::min(p.segment_taps, p.tap_count) - 1) * channels;
  const auto shared_bytes = static_cast<std::size_t>(staged_elements + staged_elements / Tuning::kRowOutputs + 1) * sizeof(A);
  const dim3 grid(static_cast<unsigned>(ceil_div(p.elements, block_elements)), grid_rows(p.rows));
  with_taps<A>(taps.row, arena, stream, [&]<class Taps>(const Taps& placed) {
    row_pass<A, Taps><<<grid, static_cast<unsigned>(threads), shared_bytes, stream>>>(p, placed);
  });
}

template <class A>
void launch_column_pass(const SeparableTaps& taps, const Border& border, const PixelView& filtered, std::int64_t filtered_row,
                        const Region& out, Arena& arena, DeviceStream stream, const ConvolutionEpilogue& epilogue) {
  const ColumnPass<A> p{.from = reinterpret_cast<const A*>(filtered.data),
                        .from_row = filtered_row,
                        .elements = filtered.row_elements(),
                        .store = device::Store<A>(out.pixels, epilogue.then),
                        .first_row = out.rect.row,
                        .rows = out.rect.rows,
                        .image_rows = out.image.rows,
                        .tap_count = static_cast<int>(taps.col.size()),
                        .border = border.mode,
                        .constant_row = constant_row_value<A>(taps.row, border.value),
                        .joined = epilogue.join != nullptr,
                        .join = device::Op<A>(epilogue.join != nullptr ? *epilogue.join : PointwiseOp{}),
                        .other = device::Rows(epilogue.other)};
  const dim3 block(Tuning::kBlockCols, Tuning::kThreads / Tuning::kBlockCols);
  const dim3 grid(static_cast<unsigned>(ceil_div(p.elements, Tuning::kBlockCols)),
                  grid_rows(ceil_div(p.rows, kColumnOutputs<A> * static_cast<std::int64_t>(block.y))));
  with_taps<A>(taps.col, arena, stream,
               [&]<class Taps>(const Taps& placed) { column_pass<A, Taps><<<grid, block, 0, stream>>>(p, placed); });
}

template <class A>
void convolve(const SeparableTaps& taps, const Border& border, const ConstRegion& in, const Region& out, Arena& arena,
              DeviceStream stream, const ConvolutionEpilogue& epilogue) {
  constexpr Arithmetic kArithmetic = sizeof(A) == 8 ? Arithmetic::f64 : Arithmetic::f32;
  const Arena::Scope scope(arena);
  if (taps.col.empty() && !taps.row.empty() && epilogue.join == nullptr) {
    return launch_row_pass<A>(taps, border, in, out.rect, device::Store<A>(out.pixels, epilogue.then), arena, stream);
  }
  // The row pass runs over the rows under the column taps, as far as they are inside the image.
  const Rect rect = out.rect.grown(taps.col_radius(), 0).intersect(Rect::whole(out.image));
  const std::int64_t elements = rect.cols * in.pixels.channels;
  const PixelView filtered{reinterpret_cast<std::byte*>(arena.allocate<A>(rect.rows * elements)), rect.extent(), in.pixels.channels,
                           pixel_type_of<A>(), elements * static_cast<std::int64_t>(sizeof(A))};
  if (taps.row.empty()) {
    const ConstPixelView source = in.crop(rect).pixels;
    pointwise_cuda({}, source, source, filtered, kArithmetic, stream);
  } else {
    launch_row_pass<A>(taps, border, in, rect, device::Store<A>(filtered), arena, stream);
  }
  if (!taps.col.empty()) return launch_column_pass<A>(taps, border, filtered, rect.row, out, arena, stream, epilogue);
  const bool joined = epilogue.join != nullptr;
  pointwise_cuda(joined ? *epilogue.join : PointwiseOp{}, joined ? epilogue.other : filtered, filtered, out.pixels, kArithmetic, stream,
                 epilogue.then);
}

}  // namespace

void convolve_cuda(const SeparableTaps& taps, const Border& border, const ConstRegion& in, const Region& out, Arithmetic arithmetic,
                   Arena& arena, DeviceStream stream, const ConvolutionEpilogue& epilogue) {
  check_convolution(taps, in, out);
  if (epilogue.join != nullptr && (epilogue.other.extent != out.rect.extent() || epilogue.other.channels != out.pixels.channels)) {
    throw InvalidArgument("the operand that a convolution is joined with has another shape than its result");
  }
  if (out.rect.empty()) return;
  visit_arithmetic(arithmetic, [&]<class A>(std::type_identity<A>) { convolve<A>(taps, border, in, out, arena, stream, epilogue); });
  check_cuda(cudaGetLastError(), "launching a convolution");
}

std::int64_t convolve_device_bytes(const SeparableTaps& taps, Extent out, std::int64_t channels, Arithmetic arithmetic) {
  const std::int64_t element_bytes = size_of(pixel_type_of(arithmetic));
  const auto long_taps = [&](const std::vector<double>& list) {
    const auto count = static_cast<std::int64_t>(list.size());
    return count <= Tuning::kTapsByValue ? 0 : Arena::bytes_for(count * element_bytes);
  };
  const std::int64_t filtered = (out.rows + 2 * taps.col_radius()) * out.cols * channels;
  return Arena::bytes_for(filtered * element_bytes) + long_taps(taps.row) + long_taps(taps.col);
}

}  // namespace sepconv
