// Staging for the fused kernel: rows of the source on their way to shared memory, converted, by channels, and with the border.
// Private to fused_pass.cuh.
#pragma once

#include "sepconv/kernels/conv/border.hpp"
#include "sepconv/kernels/cuda/device_pixel.cuh"

namespace sepconv::conv_cuda {

/// The fused kernel's measures, which are the same in bytes for f32 and f64.
template <class A>
struct FusedShape {
  static constexpr int kVector = 16 / sizeof(A);    ///< elements of a 16-byte access
  static constexpr int kOutputs = 4 * kVector;      ///< of a thread, in either pass
  static constexpr int kThreads = 128;
  static constexpr int kRows = 16;                  ///< of a step
  static constexpr int kElements = kThreads * kOutputs / kRows;  ///< of a strip, at most
  static constexpr int kPitch = kElements + kVector;             ///< from line to line: 16 bytes more than a multiple of 64
  static constexpr int kMostTaps = 65;
  static constexpr int kLoads = kVector == 4 ? 6 : 4;  ///< elements of a row that a lane stages, at most
  static constexpr int kStagedElements = 32 * kLoads;
  static constexpr int kBlocksPerProcessor = 5;     ///< at least: leaves a thread 102 registers
};

/// The image as the fused kernel sees it.
template <class A>
struct FusedSource {
  device::Rows from;              ///< its first element is that of column in_col of row in_row
  std::int64_t in_row, in_col;
  std::int64_t in_elements;       ///< of a row that `from` holds
  std::int64_t image_rows, image_cols;
  std::int64_t first_col, end_col;  ///< image columns that any strip needs, halo included
  int channels;
  int row_elements;  ///< of a strip with its halo
  int plane;         ///< staged values from channel to channel, 16 bytes more than a multiple of 64, with 16 bytes of room before and after
  BorderMode border;
  A border_value;
};

/// Where an element of a strip's row comes from and where it is staged.
struct StagedColumn {
  static constexpr int kConstant = -1, kUnused = -2;
  int source;  ///< element of the row from in_col on, or one of the above
  int place;
};

/// Copies one element from global to shared memory while the thread goes on.
template <class A>
__device__ __forceinline__ void copy_async(A* to, const A* from) {
#if __CUDA_ARCH__ >= 800
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(address), "l"(from), "n"(sizeof(A)) : "memory");
#else
  *to = *from;
#endif
}

/// Four neighbouring integers of 8 or 16 bits, as they come in one load.
template <class T>
struct Packed {
  unsigned word[sizeof(T)];

  __device__ __forceinline__ void load(const T* from) {
    if constexpr (sizeof(T) == 1) {
      word[0] = __ldg(reinterpret_cast<const unsigned*>(from));
    } else {
      const uint2 two = __ldg(reinterpret_cast<const uint2*>(from));
      word[0] = two.x, word[1] = two.y;
    }
  }
  /// What get() takes for integer i.
  static __device__ __forceinline__ unsigned selector(int i) {
    const auto at = static_cast<unsigned>(i);
    return sizeof(T) == 1 ? 0x4440U + at : 2 * at | (2 * at + 1) << 4;
  }
  __device__ __forceinline__ T get(unsigned selector) const {
    return static_cast<T>(__byte_perm(word[0], sizeof(T) == 1 ? 0 : word[sizeof(T) - 1], selector));
  }
  __device__ __forceinline__ void set(int i, T value) {
    constexpr int kInWord = 4 / sizeof(T);
    const auto bits = static_cast<unsigned>(static_cast<std::make_unsigned_t<T>>(value)) << (i % kInWord * 8 * sizeof(T));
    word[i / kInWord] = i % kInWord == 0 ? bits : word[i / kInWord] | bits;
  }
};

/// Brings a strip's rows of type T to shared memory, kRows at a time. Elements of the arithmetic type go straight to shared memory,
/// integers wait in registers, four together. A strip inside the image is loaded without a look at its columns; steps at the upper and
/// lower edge take a way that is slower and does everything.
template <class T, class A, bool kManyChannels>
struct Staging {
  using Shape = FusedShape<A>;
  static constexpr bool kDirect = std::is_same_v<T, A>;
  static constexpr int kWarps = Shape::kThreads / 32;
  static constexpr int kRowsOfWarp = Shape::kRows / kWarps;
  static constexpr int kPacked = 4;
  static constexpr int kPackedLoads = kDirect ? 1 : Shape::kLoads / kPacked + 1;  ///< of a lane and row

  const FusedSource<A>& s;
  StagedColumn* columns;     ///< in shared memory: row_elements of them
  std::int64_t top, bottom;  ///< image rows that the segment needs
  std::int64_t line;         ///< image row of the first line of step 0
  int first_inside, last_inside;  ///< steps whose lines are inside the image
  bool columns_inside;            ///< and the strip's columns too
  int lane, warp;            ///< this warp has the lines warp, warp + kWarps, ... of a step
  const T* from;             ///< this lane's first element of its first line of the step that is loaded next, if that is inside
  int first;                 ///< column of that element among those that are held, times the channels
  int lead;                  ///< elements that the first load of integers takes too many
  Packed<T> packed[kDirect ? 1 : kRowsOfWarp][kPackedLoads];

  __device__ __forceinline__ Staging(const FusedSource<A>& source, std::int64_t pixel, std::int64_t line_of_step_0, std::int64_t top_row,
                                     std::int64_t bottom_row, StagedColumn* column_places)
      : s(source), columns(column_places), top(top_row), bottom(bottom_row), line(line_of_step_0),
        lane(static_cast<int>(threadIdx.x) % 32), warp(static_cast<int>(threadIdx.x) / 32), lead(0) {
    const std::int64_t col = s.first_col + pixel;
    const std::int64_t begin = (col - s.in_col) * s.channels;
    columns_inside = col >= 0 && col + s.row_elements / s.channels <= min(s.end_col, s.image_cols);
    if constexpr (!kDirect) {
      lead = static_cast<int>((reinterpret_cast<std::uintptr_t>(s.from.data) / sizeof(T) + static_cast<std::uint64_t>(begin)) % kPacked);
      // With room for what a load takes too many.
      columns_inside = columns_inside && s.from.pitch_bytes % static_cast<std::int64_t>(kPacked * sizeof(T)) == 0 && begin >= lead &&
                       begin + s.row_elements + kPacked <= s.in_elements;
    }
    first_inside = static_cast<int>((max(max(top, std::int64_t{0}) - line, std::int64_t{0}) + Shape::kRows - 1) / Shape::kRows);
    last_inside = static_cast<int>((min(bottom, s.image_rows) - line) / Shape::kRows);
    first = static_cast<int>(begin) + (kDirect ? lane : lane * kPacked - lead);
    from = s.from.template row<const T>(line + warp - s.in_row) + first;
    for (int e = static_cast<int>(threadIdx.x); e < s.row_elements; e += static_cast<int>(blockDim.x)) {
      const int channel = e % s.channels;
      const std::int64_t at = col + e / s.channels;
      const std::int64_t inside_col = border_index(at, s.image_cols, s.border);
      columns[e].place = channel * s.plane + e / s.channels;
      columns[e].source = at >= s.end_col  ? StagedColumn::kUnused
                          : inside_col < 0 ? StagedColumn::kConstant
                                           : static_cast<int>((inside_col - s.in_col) * s.channels + channel);
    }
  }

  /// Begins to load a step. Steps are loaded in their order.
  __device__ __forceinline__ void load(int step, A* stage) {
    const bool inside = step >= first_inside && step < last_inside;
    if constexpr (kDirect) {
      if (!inside) load_anything(step, stage);
      else columns_inside ? load_lines<true>(stage) : load_lines<false>(stage);
#if __CUDA_ARCH__ >= 800
      asm volatile("cp.async.commit_group;" ::: "memory");
#endif
    } else if (inside) {
      columns_inside ? load_packed() : load_singly();
    }
    from = next_row(from, Shape::kRows);
  }

  /// Stages what load() did not.
  __device__ __forceinline__ void store(int step, A* stage) const {
    if constexpr (!kDirect) {
      const bool inside = step >= first_inside && step < last_inside;
      if (!inside) load_anything(step, stage);
      else columns_inside ? store_packed<true>(stage) : store_packed<false>(stage);
    }
  }

  __device__ __forceinline__ void wait() const {
#if __CUDA_ARCH__ >= 800
    if constexpr (kDirect) asm volatile("cp.async.wait_all;" ::: "memory");
#endif
  }

 private:
  __device__ __forceinline__ int line_elements() const { return kManyChannels ? s.channels * s.plane : s.plane; }
  __device__ __forceinline__ const T* next_row(const T* at, int rows) const {
    return reinterpret_cast<const T*>(reinterpret_cast<const std::byte*>(at) + rows * s.from.pitch_bytes);
  }

  template <bool kColumnsInside>
  __device__ __forceinline__ void load_lines(A* stage) const {
    const int apart = kWarps * line_elements();
    A* const to = stage + warp * line_elements() + (kManyChannels ? 0 : lane);
    const T* at[kRowsOfWarp] = {from};
#pragma unroll
    for (int r = 1; r < kRowsOfWarp; ++r) at[r] = next_row(at[r - 1], kWarps);
#pragma unroll
    for (int k = 0; k < Shape::kLoads; ++k) {
      if (lane + 32 * k >= s.row_elements) break;
      A* const place = to + (kManyChannels ? columns[lane + 32 * k].place : 32 * k);
      const int source = kColumnsInside ? 0 : columns[lane + 32 * k].source;
      const int offset = kColumnsInside ? 32 * k : source - first;
#pragma unroll
      for (int r = 0; r < kRowsOfWarp; ++r) {
        if (source >= 0) copy_async(place + r * apart, at[r] + offset);
        else if (source == StagedColumn::kConstant) place[r * apart] = s.border_value;
      }
    }
  }

  __device__ __forceinline__ void load_packed() {
    const T* at[kRowsOfWarp] = {from};
#pragma unroll
    for (int r = 1; r < kRowsOfWarp; ++r) at[r] = next_row(at[r - 1], kWarps);
#pragma unroll
    for (int k = 0; k < kPackedLoads; ++k) {
      if ((lane + 32 * k) * kPacked >= s.row_elements + lead) break;
#pragma unroll
      for (int r = 0; r < kRowsOfWarp; ++r) packed[r][k].load(at[r] + 32 * k * kPacked);
    }
  }

  __device__ __forceinline__ void load_singly() {
    const T* at[kRowsOfWarp] = {from};
#pragma unroll
    for (int r = 1; r < kRowsOfWarp; ++r) at[r] = next_row(at[r - 1], kWarps);
#pragma unroll
    for (int k = 0; k < kPackedLoads; ++k) {
      int offset[kPacked];
#pragma unroll
      for (int i = 0; i < kPacked; ++i) {
        const int e = (lane + 32 * k) * kPacked - lead + i;
        offset[i] = e < 0 || e >= s.row_elements ? StagedColumn::kUnused : columns[e].source;
      }
#pragma unroll
      for (int r = 0; r < kRowsOfWarp; ++r) {
        T value[kPacked];
#pragma unroll
        for (int i = 0; i < kPacked; ++i) value[i] = offset[i] < 0 ? T{0} : __ldg(at[r] + (offset[i] - first));
#pragma unroll
        for (int i = 0; i < kPacked; ++i) packed[r][k].set(i, value[i]);
      }
    }
  }

  /// Those of its four neighbours that a lane stages i-th differ from lane to lane, so that they go to different banks.
  template <bool kColumnsInside>
  __device__ __forceinline__ void store_packed(A* stage) const {
    const int apart = kWarps * line_elements();
    stage += warp * line_elements();
#pragma unroll
    for (int k = 0; k < kPackedLoads; ++k) {
      const int e = (lane + 32 * k) * kPacked - lead;
      if (e >= s.row_elements) break;
#pragma unroll
      for (int i = 0; i < kPacked; ++i) {
        const int mine = (i + lane / 8) % kPacked;
        int place = e + mine;  // up to three before and after the row lies room that nobody reads
        bool constant = false;
        if constexpr (kManyChannels || !kColumnsInside) {
          if (place < 0 || place >= s.row_elements) continue;
          constant = columns[place].source == StagedColumn::kConstant;
          place = columns[place].place;
        }
        const unsigned selector = Packed<T>::selector(mine);
#pragma unroll
        for (int r = 0; r < kRowsOfWarp; ++r) {
          stage[place + r * apart] = constant ? s.border_value : static_cast<A>(packed[r][k].get(selector));
        }
      }
    }
  }

  __device__ __forceinline__ void load_anything(int step, A* stage) const {
#pragma unroll 1
    for (int l = warp; l < Shape::kRows; l += kWarps) {
      const std::int64_t y = line + std::int64_t{step} * Shape::kRows + l;
      if (y < top || y >= bottom) continue;
      const std::int64_t inside = border_index(y, s.image_rows, s.border);
      const T* const at = s.from.template row<const T>(inside - s.in_row);
      A* const to = stage + l * line_elements();
#pragma unroll 1
      for (int e = lane; e < s.row_elements; e += 32) {
        const StagedColumn column = columns[e];
        if (column.source == StagedColumn::kConstant || inside < 0) to[column.place] = s.border_value;
        else if (column.source < 0) continue;
        else if constexpr (kDirect) copy_async(to + column.place, at + column.source);
        else to[column.place] = static_cast<A>(at[column.source]);
      }
    }
  }
};

}  // namespace sepconv::conv_cuda
