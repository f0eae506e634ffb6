// Staging for the fused kernel: loads rows of the source to shared memory, converted, split by channel, and
// with the border. Private to fused_pass.cuh.
#pragma once

#include "kernels/conv/border.hpp"
#include "kernels/conv/sliding.cuh"
#include "kernels/cuda/device_pixel.cuh"

namespace sepconv::conv_cuda {

/// The fused kernel's sizes; in bytes they are equal for f32 and f64. Long filters use the tall shape: their
/// lines fill shared memory, so that one block has to occupy a multiprocessor.
template <class A, bool kTall = false>
struct FusedShape {
  static constexpr int kVector = 16 / sizeof(A);  ///< elements of a 16-byte access
  static constexpr int kOutputs = 4 * kVector;    ///< outputs of a thread, in either pass
  static constexpr int kThreads = kTall ? 512 : 128;
  static constexpr int kRows = kTall ? 64 : 16;                  ///< rows of a step
  static constexpr int kElements = kThreads * kOutputs / kRows;  ///< maximum elements of a strip
  static constexpr int kPitch = kElements + kVector;  ///< of lines: 16 bytes more than a multiple of 64
  static constexpr int kMaxTaps = kTall ? 201 : 65;
  static constexpr int kStagedElements =
      kElements + kMaxTaps - 1;           ///< maximum of a strip's row with its halo
  static constexpr int kGroup = kVector;  ///< adjacent elements that are loaded together
  static constexpr int kMaxAligned = 128 / sizeof(A);
  /// Minimum number of resident blocks per multiprocessor. Bytes need few registers while they are loaded, so
  /// more blocks are worth having fewer than 128 registers.
  template <class T>
  static constexpr int blocks_per_processor() {
    return kTall ? 1 : sizeof(T) == 1 ? 5 : 4;
  }
};

/// The fused kernel's source image.
template <class A>
struct FusedSource {
  device::Rows from;  ///< begins at column in_col of row in_row
  std::int64_t in_row, in_col;
  std::int64_t in_elements;  ///< elements of a row of `from`
  std::int64_t image_rows, image_cols;
  std::int64_t first_col, end_col;  ///< image columns that any strip needs, halo included
  int channels;
  int aligned;       ///< loads begin at multiples of this many elements; a power of two
  int row_elements;  ///< elements of a strip's row with its halo
  int planes;        ///< planes of a staged row: one of all elements, or one for each channel
  int plane;  ///< stride of planes in elements: 16 bytes more than a multiple of 64, with space for groups
              ///< that extend beyond the row
  BorderMode border;
  A border_value;
};

/// Source and staged position of an element of a strip's row.
struct StagedColumn {
  static constexpr int kConstant = -1, kUnused = -2;
  int source;  ///< element of the row from in_col on, or kConstant or kUnused
  int position;
};

/// Copies kBytes (4, 8 or 16) asynchronously from global to shared memory; both addresses are offset by
/// kOffset elements.
template <int kBytes, int kOffset = 0, class A>
__device__ __forceinline__ void copy_async(A* to, const A* from) {
#if __CUDA_ARCH__ >= 800
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(to));
  constexpr int kOffsetBytes = kOffset * static_cast<int>(sizeof(A));
  if constexpr (kBytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0+%2], [%1+%2], 16;" ::"r"(address), "l"(from),
                 "n"(kOffsetBytes)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0+%2], [%1+%2], %3;" ::"r"(address), "l"(from),
                 "n"(kOffsetBytes), "n"(kBytes)
                 : "memory");
  }
#else
#pragma unroll
  for (int i = 0; i < kBytes / static_cast<int>(sizeof(A)); ++i) to[kOffset + i] = from[kOffset + i];
#endif
}

/// Four adjacent integers of 8 or 16 bits, loaded together.
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
  template <class A>
  __device__ __forceinline__ A get(int i) const {
    constexpr int kInWord = 4 / sizeof(T);
    const unsigned bits = word[i / kInWord] >> (i % kInWord * 8 * static_cast<int>(sizeof(T)));
    // Through 32-bit integers, which GPUs convert at full speed.
    if constexpr (std::is_signed_v<T>)
      return static_cast<A>(static_cast<int>(static_cast<T>(bits)));
    else
      return static_cast<A>(static_cast<unsigned>(static_cast<T>(bits)));
  }
  __device__ __forceinline__ void set(int i, T value) {
    constexpr int kInWord = 4 / sizeof(T);
    const auto bits = static_cast<unsigned>(static_cast<std::make_unsigned_t<T>>(value))
                      << (i % kInWord * 8 * sizeof(T));
    word[i / kInWord] = i % kInWord == 0 ? bits : word[i / kInWord] | bits;
  }
};

/// Loads a strip's rows of type T to shared memory, kRows at a time. Elements of the arithmetic type are
/// copied directly; integers pass through registers. Groups are loaded together if rows are aligned. A strip
/// inside the image is loaded without its column table; steps at the upper and lower edge use a slower
/// general path.
template <class T, class A, int kChannels, int kTaps, bool kTall>
struct Staging {
  using Shape = FusedShape<A, kTall>;
  static constexpr bool kDirect = std::is_same_v<T, A>;
  static constexpr bool kPlanes = kChannels == 0;
  static constexpr int kGroup = Shape::kGroup;
  static constexpr int kLanes = Shape::kThreads / Shape::kRows;
  static constexpr int kMaxElements =
      kTaps > 0 && !kPlanes ? Shape::kElements + (kTaps - 1) * kChannels : Shape::kStagedElements;
  static constexpr int kGroups =
      (kMaxElements + (kDirect ? Shape::kMaxAligned : kGroup) - 1 + kGroup - 1) / kGroup / kLanes +
      1;  ///< maximum groups of a thread

  const FusedSource<A>& s;
  StagedColumn* columns;         ///< row_elements of them, in shared memory
  std::int64_t top, bottom;      ///< image rows that the segment needs
  std::int64_t line;             ///< image row of the first line of step 0
  int first_inside, end_inside;  ///< steps whose lines are inside the image
  bool loads_groups;             ///< the strip's columns are inside the image and its rows are aligned
  int lead;                      ///< elements of a row's first group before the strip
  const T* from;                 ///< column in_col of this thread's row in the step that is loaded next
  int begin;                     ///< offset from there to the strip's first element
  int row_groups;                ///< groups of a row
  int row, lane;                 ///< this thread stages groups lane, lane + kLanes, ... of a row
  Packed<T> packed[kDirect ? 1 : kGroups];

  __device__ __forceinline__ Staging(const FusedSource<A>& fused_source, std::int64_t element,
                                     std::int64_t line_of_step_0, std::int64_t top_row,
                                     std::int64_t bottom_row, StagedColumn* staged_columns)
      : s(fused_source),
        columns(staged_columns),
        top(top_row),
        bottom(bottom_row),
        line(line_of_step_0),
        row(static_cast<int>(threadIdx.x) / kLanes),
        lane(static_cast<int>(threadIdx.x) % kLanes) {
    element += s.first_col * s.channels;  // of the image's row, where the strip's halo begins
    begin = static_cast<int>(element - s.in_col * s.channels);
    first_inside = static_cast<int>(
        (max(max(top, std::int64_t{0}) - line, std::int64_t{0}) + Shape::kRows - 1) / Shape::kRows);
    end_inside = static_cast<int>((min(bottom, s.image_rows) - line) / Shape::kRows);
    from = s.from.template row<const T>(line - s.in_row + row);

    const bool aligned = s.from.pitch_bytes % static_cast<std::int64_t>(s.aligned * sizeof(T)) == 0;
    lead = aligned && !(kDirect && kPlanes)
               ? static_cast<int>((reinterpret_cast<std::uintptr_t>(s.from.data) / sizeof(T) +
                                   static_cast<std::uint64_t>(static_cast<std::int64_t>(begin))) %
                                  static_cast<unsigned>(s.aligned))
               : 0;
    row_groups = (lead + s.row_elements + kGroup - 1) / kGroup;
    loads_groups = aligned && element >= 0 &&
                   element + s.row_elements <= min(s.end_col, s.image_cols) * s.channels && begin >= lead &&
                   begin - lead + row_groups * kGroup <= s.in_elements;
    for (int e = static_cast<int>(threadIdx.x); e < s.row_elements; e += Shape::kThreads) {
      const std::int64_t at = (element + e) / s.channels - ((element + e) % s.channels < 0);
      const int channel = static_cast<int>(element + e - at * s.channels);
      const std::int64_t inside_col = border_index(at, s.image_cols, s.border);
      columns[e].position = kPlanes ? channel * s.plane + e / s.channels : e + lead;
      columns[e].source = at >= s.end_col  ? StagedColumn::kUnused
                          : inside_col < 0 ? StagedColumn::kConstant
                                           : static_cast<int>((inside_col - s.in_col) * s.channels + channel);
    }
  }

  /// Begins to load a step. Steps are loaded in order.
  __device__ __forceinline__ void load(int step, A* stage) {
    const bool inside = step >= first_inside && step < end_inside;
    if constexpr (kDirect) {
      if (!inside)
        load_with_border(step, stage);
      else
        loads_groups && !kPlanes ? load_groups(stage) : load_lines(stage);
#if __CUDA_ARCH__ >= 800
      asm volatile("cp.async.commit_group;" ::: "memory");
#endif
    } else if (inside) {
      loads_groups ? load_packed() : load_singly();
    }
    from = next_row(from, Shape::kRows);
  }

  /// Stages the elements that load() left in registers or skipped.
  __device__ __forceinline__ void store(int step, A* stage) const {
    if constexpr (!kDirect) {
      const bool inside = step >= first_inside && step < end_inside;
      if (!inside)
        load_with_border(step, stage);
      else
        loads_groups && !kPlanes ? store_groups(stage) : store_singly(stage);
    }
  }

  __device__ __forceinline__ void wait() const {
#if __CUDA_ARCH__ >= 800
    if constexpr (kDirect) asm volatile("cp.async.wait_all;" ::: "memory");
#endif
  }

 private:
  __device__ __forceinline__ int line_elements() const { return kPlanes ? s.planes * s.plane : s.plane; }
  __device__ __forceinline__ const T* next_row(const T* at, int rows) const {
    return reinterpret_cast<const T*>(reinterpret_cast<const std::byte*>(at) + rows * s.from.pitch_bytes);
  }
  /// Calls work(g) for this thread's groups of a row; g is a compile-time constant. The groups are
  /// kGroupStride elements apart.
  static constexpr int kGroupStride = kLanes * kGroup;
  template <class Work>
  __device__ __forceinline__ void for_each_own_group(const Work& work) const {
    const int thread_groups = row_groups - lane;
    [&]<int... g>(std::integer_sequence<int, g...>) {
      (void)((thread_groups > g * kLanes && (work(std::integral_constant<int, g>{}), true)) && ...);
    }
    (std::make_integer_sequence<int, kGroups>{});
  }
  __device__ __forceinline__ A* first_staged(A* stage) const {
    return stage + row * line_elements() + lane * kGroup;
  }
  __device__ __forceinline__ const T* first_source() const { return from + (begin - lead + lane * kGroup); }

  __device__ __forceinline__ void load_groups(A* stage) const {
    A* const to = first_staged(stage);
    const T* const at = first_source();
    for_each_own_group([&]<int g>(std::integral_constant<int, g>) {
      copy_async<kGroup * sizeof(A), g * kGroupStride>(to, at);
    });
  }

  __device__ __forceinline__ void load_packed() {
    const T* const at = first_source();
    for_each_own_group([&]<int g>(std::integral_constant<int, g>) { packed[g].load(at + g * kGroupStride); });
  }

  __device__ __forceinline__ void store_groups(A* stage) const {
    A* const to = first_staged(stage);
    for_each_own_group([&]<int g>(std::integral_constant<int, g>) {
      A value[kGroup];
#pragma unroll
      for (int i = 0; i < kGroup; ++i) value[i] = packed[g].template get<A>(i);
      store_vectors(to + g * kGroupStride, value);
    });
  }

  __device__ __forceinline__ bool in_strip(int e) const { return e >= 0 && e < s.row_elements; }

  __device__ __forceinline__ void load_singly() {
    for_each_own_group([&]<int g>(std::integral_constant<int, g>) {
      const int e = lane * kGroup + g * kGroupStride;
      T value[kGroup];
#pragma unroll
      for (int i = 0; i < kGroup; ++i) {
        const int column = in_strip(e - lead + i) ? columns[e - lead + i].source : StagedColumn::kUnused;
        value[i] = column < 0 ? T{0} : __ldg(from + column);
      }
#pragma unroll
      for (int i = 0; i < kGroup; ++i) packed[g].set(i, value[i]);
    });
  }

  __device__ __forceinline__ void store_singly(A* stage) const {
    A* const to = stage + row * line_elements();
    for_each_own_group([&]<int g>(std::integral_constant<int, g>) {
      const int e = lane * kGroup + g * kGroupStride;
#pragma unroll
      for (int i = 0; i < kGroup; ++i) {
        if (!in_strip(e - lead + i)) continue;
        const StagedColumn column = columns[e - lead + i];
        to[column.position] =
            column.source == StagedColumn::kConstant ? s.border_value : packed[g].template get<A>(i);
      }
    });
  }

  /// Element by element, a warp along a row.
  __device__ __forceinline__ void load_lines(A* stage) const {
    constexpr int kWarps = Shape::kThreads / 32, kRowsPerWarp = Shape::kRows / kWarps;
    const int warp = static_cast<int>(threadIdx.x) / 32, row_stride = kWarps * line_elements();
    stage += warp * line_elements();
    const T* at[kRowsPerWarp] = {next_row(from, warp - row)};
#pragma unroll
    for (int r = 1; r < kRowsPerWarp; ++r) at[r] = next_row(at[r - 1], kWarps);
#pragma unroll 2
    for (int e = static_cast<int>(threadIdx.x) % 32; e < s.row_elements; e += 32) {
      const StagedColumn column = columns[e];
      A* const to = stage + column.position;
#pragma unroll
      for (int r = 0; r < kRowsPerWarp; ++r) {
        if (column.source >= 0)
          copy_async<sizeof(A)>(to + r * row_stride, at[r] + column.source);
        else if (column.source == StagedColumn::kConstant)
          to[r * row_stride] = s.border_value;
      }
    }
  }

  __device__ __forceinline__ void load_with_border(int step, A* stage) const {
    const std::int64_t y = line + std::int64_t{step} * Shape::kRows + row;
    if (y < top || y >= bottom) return;
    const std::int64_t inside = border_index(y, s.image_rows, s.border);
    const T* const at = s.from.template row<const T>(inside - s.in_row);
    A* const to = stage + row * line_elements();
#pragma unroll 1
    for (int e = lane; e < s.row_elements; e += kLanes) {
      const StagedColumn column = columns[e];
      if (column.source == StagedColumn::kConstant || inside < 0)
        to[column.position] = s.border_value;
      else if (column.source < 0)
        continue;
      else if constexpr (kDirect)
        copy_async<sizeof(A)>(to + column.position, at + column.source);
      else
        to[column.position] = static_cast<A>(at[column.source]);
    }
  }
};

}  // namespace sepconv::conv_cuda
