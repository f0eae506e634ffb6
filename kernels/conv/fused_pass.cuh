// Both passes in one kernel: a block moves down a strip of the image and reads and writes each pixel once.
// Private to fused*.cu.
//
// A step processes kRows rows. Their pixels, converted and with the border, are staged in shared memory while
// the previous step computes. The row pass reads the stage and writes lines of filtered rows, also in shared
// memory. The column pass reads the lines under its taps.
#pragma once

#include "kernels/conv/border.hpp"
#include "kernels/conv/fused_stage.cuh"
#include "kernels/conv/sliding.cuh"
#include "kernels/pointwise/device_op.cuh"

namespace sepconv::conv_cuda {

/// The taps of both filters, passed by value in constant memory. Padded, because rounds load taps that they
/// do not apply.
template <class A>
struct FusedTaps {
  alignas(16) A row[FusedShape<A, true>::kMaxTaps + FusedShape<A>::kOutputs];
  alignas(16) A col[FusedShape<A, true>::kMaxTaps + FusedShape<A>::kOutputs];
};

template <class A>
struct FusedPass {
  FusedSource<A> source;
  device::Store<A> store;
  std::int64_t first_row, rows, elements;  ///< first image row of the result, and its extent
  std::int64_t segment_rows;               ///< rows of the result that a block computes
  int strips, segments;
  int stages;  ///< in shared memory, 1 or 2; with 2 a step is loaded during the whole previous step, with 1
               ///< only during its column pass
  int strip_elements;
  int row_taps, col_taps;
  bool whole_vectors;  ///< the result is aligned for vector stores
  bool has_join;       ///< x becomes join(other, x) before it is stored
  device::Op<A> join;
  device::Rows operand;
};

template <class A>
using Lines = LineRing<FusedShape<A>::kPitch, A>;

/// A thread's part of every step's row pass: kOutputs adjacent values of one plane of one row.
template <class A, int kChannels, int kTaps, bool kTall>
struct RowTask {
  static constexpr bool kPlanes = kChannels == 0;
  using Shape = FusedShape<A, kTall>;
  static constexpr int kOutputs = Shape::kOutputs;
  int from;      ///< offset in the stage
  int line, to;  ///< line of a step, and offset in it
  bool active;

  __device__ __forceinline__ explicit RowTask(const FusedPass<A>& p) {
    const int lines = p.source.planes * Shape::kRows;  // of one plane
    const int groups = p.strip_elements / p.source.planes / kOutputs;
    // Two groups of one row, then the next rows: the threads of a quarter-warp read 16 bytes each from
    // different banks.
    const int adjacent_groups = groups > 1 ? 2 : 1;
    const int thread = static_cast<int>(threadIdx.x);
    const int staged = thread / adjacent_groups % lines;
    const int group = thread / adjacent_groups / lines * adjacent_groups + thread % adjacent_groups;
    active = group < groups;
    from = staged * p.source.plane + group * kOutputs;
    line = staged / p.source.planes;
    to = group * kOutputs * p.source.planes + staged % p.source.planes;
  }

  /// `lead` is the offset at which a staged row begins; `first` is the step's first line.
  __device__ __forceinline__ void operator()(const FusedPass<A>& p, const A* taps, const A* stage, int lead,
                                             const Lines<A>& lines, int first) const {
    if (!active) return;
    constexpr int kVector = Shape::kVector;
    const int shift = kPlanes ? 0 : lead % kVector;
    const A* const pixels = stage + from + (kPlanes ? 0 : lead - shift);
    A sum[kOutputs] = {};
    const auto slide = [&]<int kShift>(std::integral_constant<int, kShift>) {
      if constexpr (kTaps > 0)
        slide_along<kShift, kTaps, kChannels>(pixels, taps, sum);
      else
        slide_along<kShift>(pixels, taps, p.row_taps, sum);
    };
    switch (shift) {
      case 0:
        slide(std::integral_constant<int, 0>{});
        break;
      case 1:
        slide(std::integral_constant<int, 1>{});
        break;
      case 2:
        if constexpr (kVector > 2) slide(std::integral_constant<int, 2>{});
        break;
      case 3:
        if constexpr (kVector > 2) slide(std::integral_constant<int, 3>{});
        break;
    }
    const int at = lines.wrapped(first + line);
    A* const destination = lines.first + at * Shape::kPitch + to;
    store(p, destination, sum);
    if (at < Lines<A>::kMirrored) store(p, destination + lines.count * Shape::kPitch, sum);
  }

 private:
  __device__ __forceinline__ void store(const FusedPass<A>& p, A* destination,
                                        const A (&sum)[kOutputs]) const {
    if constexpr (kPlanes) {
#pragma unroll
      for (int i = 0; i < kOutputs; ++i) destination[i * p.source.planes] = sum[i];
    } else {
      store_vectors(destination, sum);
    }
  }
};

/// A thread's part of every step's column pass: kVector adjacent elements of kHeight rows.
template <class A, int kTaps, bool kTall>
struct ColumnTask {
  using Shape = FusedShape<A, kTall>;
  static constexpr int kWidth = Shape::kVector, kHeight = Shape::kOutputs / kWidth;
  int line, col;  ///< relative to the step's first row and the strip
  int width;      ///< number of elements of the result; none if not positive
  std::byte* to;  ///< this thread's first element of the next step
  std::int64_t element;

  /// The segment begins with row `first` of the result.
  __device__ __forceinline__ ColumnTask(const FusedPass<A>& p, int strip, std::int64_t first) {
    const int groups = (p.strip_elements + kWidth - 1) / kWidth;
    line = static_cast<int>(threadIdx.x) / groups * kHeight;
    col = static_cast<int>(threadIdx.x) % groups * kWidth;
    element = std::int64_t{strip} * p.strip_elements + col;
    width = static_cast<int>(
        min(static_cast<std::int64_t>(min(kWidth, p.strip_elements - col)), p.elements - element));
    if (line >= Shape::kRows) width = 0;
    std::int64_t size = 0;
    device::visit(p.store.to.type, [&]<class T>(T) { size = sizeof(T); });
    to = p.store.to.data + (first + line) * p.store.to.pitch_bytes + element * size;
  }

  /// Computes the step that begins with row `row` of the result and has line `first` under its first tap.
  /// `remaining_rows` is the number of remaining rows of the segment.
  __device__ __forceinline__ void operator()(const FusedPass<A>& p, const A* taps, const Lines<A>& lines,
                                             int first, std::int64_t row, int remaining_rows) {
    const int height = min(remaining_rows - line, kHeight);
    if (width > 0 && height > 0) {
      A sum[kHeight * kWidth] = {};
      const A* const at = lines.at(first + line) + col;
      if constexpr (kTaps > 0)
        slide_down<kTaps, kHeight, kWidth>(lines, at, taps, sum);
      else
        slide_down<kHeight, kWidth>(lines, at, taps, p.col_taps, sum);
      if (p.has_join) join(p, row + line, height, sum);
      p.store.finish(sum);
      device::visit(p.store.to.type, [&]<class T>(T) {
        p.whole_vectors&& width == kWidth&& height == kHeight ? store_whole<T>(p, sum)
                                                              : store_part<T>(p, height, sum);
      });
    }
    to += Shape::kRows * p.store.to.pitch_bytes;
  }

 private:
  __device__ __forceinline__ void join(const FusedPass<A>& p, std::int64_t row, int height,
                                       A (&sum)[kHeight * kWidth]) const {
    A operand[kHeight * kWidth];
    device::visit(p.operand.type, [&]<class T>(T) {
#pragma unroll
      for (int i = 0; i < kHeight * kWidth; ++i) {
        const bool inside = i / kWidth < height && i % kWidth < width;
        operand[i] =
            inside ? static_cast<A>(p.operand.template row<const T>(row + i / kWidth)[element + i % kWidth])
                   : A(0);
      }
    });
    p.join.binary(operand, sum, sum);
  }

  template <class T>
  __device__ __forceinline__ void store_whole(const FusedPass<A>& p, const A (&sum)[kHeight * kWidth]) const {
    struct alignas(sizeof(T) * kWidth > 16 ? 16 : sizeof(T) * kWidth) Group {
      T at[kWidth];
    };
    std::byte* row = to;
#pragma unroll
    for (int r = 0; r < kHeight; ++r) {
      Group group;
#pragma unroll
      for (int i = 0; i < kWidth; ++i) group.at[i] = device::to_pixel<T>(sum[r * kWidth + i]);
      *reinterpret_cast<Group*>(row) = group;
      row += p.store.to.pitch_bytes;
    }
  }

  template <class T>
  __device__ __forceinline__ void store_part(const FusedPass<A>& p, int height,
                                             const A (&sum)[kHeight * kWidth]) const {
#pragma unroll
    for (int i = 0; i < kHeight * kWidth; ++i) {
      if (i / kWidth < height && i % kWidth < width) {
        reinterpret_cast<T*>(to + i / kWidth * p.store.to.pitch_bytes)[i % kWidth] =
            device::to_pixel<T>(sum[i]);
      }
    }
  }
};

/// One block for each strip and segment. Blocks of the first and the last strip take longer and come first.
/// T: type of the source. kTaps: number of taps of either filter; 0: any. kChannels: number of channels,
/// staged interleaved; 0: any number, each staged in a separate plane.
template <class T, class A, int kChannels, int kTaps, bool kTall>
__global__ void __launch_bounds__(FusedShape<A, kTall>::kThreads,
                                  FusedShape<A, kTall>::template blocks_per_processor<T>())
    fused_pass(const __grid_constant__ FusedPass<A> p, const __grid_constant__ FusedTaps<A> taps) {
  using Shape = FusedShape<A, kTall>;
  extern __shared__ __align__(16) unsigned char shared[];
  // Shared memory: stages, lines, column table.
  A* const stages = reinterpret_cast<A*>(shared);
  const int stage_elements = Shape::kRows * (kChannels == 0 ? p.source.planes : 1) * p.source.plane;
  const int tap_span = (kTaps > 0 ? kTaps : p.col_taps) - 1;
  const Lines<A> lines{stages + p.stages * stage_elements, tap_span + Shape::kRows};
  auto* const columns =
      reinterpret_cast<StagedColumn*>(lines.first + (lines.count + Lines<A>::kMirrored) * Shape::kPitch);

  const int block = static_cast<int>(blockIdx.x), edge_strips = min(p.strips, 2),
            inner_block = block - edge_strips * p.segments;
  const int strip = inner_block < 0 ? block % edge_strips * (p.strips - 1) : 1 + inner_block % (p.strips - 2);
  const std::int64_t first =
      (inner_block < 0 ? block / edge_strips : inner_block / (p.strips - 2)) * p.segment_rows;
  const auto rows = static_cast<int>(min(p.segment_rows, p.rows - first));
  // The lines before the first result take whole steps; the first step may begin with unused lines.
  const int lead_steps = (tap_span + Shape::kRows - 1) / Shape::kRows;
  const int steps = lead_steps + (rows + Shape::kRows - 1) / Shape::kRows;
  const std::int64_t top = p.first_row + first - tap_span / 2,
                     bottom = p.first_row + first + rows + tap_span / 2;
  Staging<T, A, kChannels, kTaps, kTall> staging(
      p.source, std::int64_t{strip} * p.strip_elements,
      p.first_row + first + tap_span / 2 - lead_steps * Shape::kRows, top, bottom, columns);
  const RowTask<A, kChannels, kTaps, kTall> filter_row(p);
  ColumnTask<A, kTaps, kTall> filter_columns(p, strip, first);
  __syncthreads();
  staging.load(0, stages);
  staging.store(0, stages);
  int line = 0;  // line of the ring where the step begins
  for (int step = 0; step < steps; ++step) {
    A* const stage = stages + (step & (p.stages - 1)) * stage_elements;
    A* const next = stages + ((step + 1) & (p.stages - 1)) * stage_elements;
    const bool has_next_step = step + 1 < steps, loads_early = p.stages > 1 || !staging.kDirect;
    staging.wait();
    __syncthreads();
    if (has_next_step && loads_early) staging.load(step + 1, next);
    filter_row(p, taps.row, stage, staging.lead, lines, line);
    __syncthreads();
    if (has_next_step && !loads_early) staging.load(step + 1, next);
    line = lines.wrapped(line + Shape::kRows);
    if (const int done = (step - lead_steps) * Shape::kRows; done >= 0)
      filter_columns(p, taps.col, lines, line, first + done, rows - done);
    if (has_next_step) staging.store(step + 1, next);
  }
}

}  // namespace sepconv::conv_cuda
