// Both passes over bytes in one kernel without staging in shared memory: a thread moves down a few columns
// and keeps the partial sums of the next results in registers. For short filters. Private to fused_bytes.cu.
//
// A byte in the low bits of a register is the denormal f32 byte * 2^-149, so no conversion is needed.
// BytesTaps contains the row taps scaled by 2^110 and the column taps scaled by 2^39. Powers of two change no
// bit if nothing underflows (bytes_scaled).
#pragma once

#include <limits>

#include "kernels/conv/border.hpp"
#include "kernels/cuda/device_pixel.cuh"

namespace sepconv::conv_cuda {

/// Exponents of the powers of two that taps are scaled by.
constexpr int kRowScale = 110, kColumnScale = 149 - kRowScale;

/// The kernel's arguments. Elements are counted from the beginning of the image's row.
struct BytesPass {
  device::Rows from;  ///< begins with element `in_begin` of row `in_row`
  device::Rows to;
  std::int64_t in_row;
  std::int64_t in_begin, in_end;  ///< elements of a row that `from` contains
  std::int64_t image_rows, image_cols;
  std::int64_t first_col, end_col;         ///< columns that the result needs, halo included
  std::int64_t first_row, rows, elements;  ///< first image row of the result, and its extent
  std::int64_t segment_rows;               ///< rows of the result that a block computes
  int strips, segments, strip_elements;
  BorderMode border;
  unsigned packed_border;  ///< four elements of a constant border
};

/// The scaled taps of both filters, passed by value.
struct BytesTaps {
  static constexpr int kMax = 9;
  float row[kMax], col[kMax];
};

template <int kChannels, int kTaps>
struct ByteShape {
  static constexpr int kReach = kTaps / 2 * kChannels;     ///< elements needed on either side of a thread's
  static constexpr int kHalo = 4;                          ///< elements loaded on either side
  static constexpr int kWidth = 8;                         ///< elements of a thread
  static constexpr int kWords = (kWidth + 2 * kHalo) / 4;  ///< words of a row that a thread loads
  static constexpr int kPrefetchRows = 4;                  ///< rows being loaded
  static constexpr int kThreads = 128;
  static constexpr int kStaged = kThreads * kWidth + 2 * kHalo;  ///< elements of a block's row with its halo
  /// Minimum number of resident blocks per multiprocessor. Measured.
  static constexpr int kBlocks = kTaps == 3 && kChannels == 1 ? 6 : kTaps <= 5 ? 5 : 4;
  static_assert(kReach <= kHalo);
};

/// Sources of a block's rows and columns that are outside the image. Located in shared memory.
template <int kChannels, int kTaps>
struct ByteBorders {
  using Shape = ByteShape<kChannels, kTaps>;
  static constexpr int kConstant = std::numeric_limits<int>::min();
  static constexpr int kRadius = kTaps / 2;
  int row[2 * kRadius];        ///< for rows above and below the image: distance to the source row
  int column[Shape::kStaged];  ///< source element of the row, counted from `in_begin`
};

/// Byte i of the words as the f32 byte * 2^-149.
template <int kWords>
__device__ __forceinline__ float tiny_byte(const unsigned (&word)[kWords], int i) {
  return __uint_as_float(__byte_perm(word[i / 4], 0, 0x4440 + i % 4));
}

/// Loads a segment's rows to a thread's registers: as words or, in warps at an edge of the image, as single
/// bytes, so that threads of a warp do not diverge.
template <int kChannels, int kTaps, bool kEdge>
struct ByteRows {
  using Shape = ByteShape<kChannels, kTaps>;
  using Borders = ByteBorders<kChannels, kTaps>;
  static constexpr int kInputs = Shape::kWidth + 2 * Shape::kReach;
  static constexpr int kLoads = kEdge ? kInputs : Shape::kWords;

  const Borders& borders;
  const std::uint8_t* from;  ///< line 0 of the segment: this thread's first word or, at an edge, row start
  const int* column;         ///< table entry of this thread's first input
  int pitch;
  int above, inside;       ///< lines of the segment above the image, and up to the image's end
  int last;                ///< last line that the segment needs
  unsigned packed_border;  ///< four elements of a constant border

  __device__ __forceinline__ void load(int line, unsigned (&to)[kLoads]) const {
    line = min(line, last);
    if (line < above || line >= inside) {
      const int shift = borders.row[line < above ? kTaps / 2 - above + line : kTaps / 2 + line - inside];
      if (shift == Borders::kConstant) {
#pragma unroll
        for (int j = 0; j < kLoads; ++j) to[j] = kEdge ? packed_border & 0xff : packed_border;
        return;
      }
      line += shift;
    }
    const std::uint8_t* const at = from + std::int64_t{line} * pitch;
    if constexpr (kEdge) {
#pragma unroll
      for (int i = 0; i < kInputs; ++i) {
        const int offset = column[i];
        to[i] = packed_border & 0xff;
        if (offset != Borders::kConstant) to[i] = __ldg(at + offset);
      }
    } else {
      load_words(at, to);
    }
  }

  __device__ __forceinline__ void unpack(const unsigned (&loaded)[kLoads], float (&input)[kInputs]) const {
#pragma unroll
    for (int i = 0; i < kInputs; ++i) {
      input[i] = kEdge ? __uint_as_float(loaded[kEdge ? i : 0])
                       : tiny_byte(loaded, kEdge ? 0 : Shape::kHalo - Shape::kReach + i);
    }
  }

 private:
  __device__ __forceinline__ void load_words(const std::uint8_t* at, unsigned (&to)[kLoads]) const {
    to[0] = __ldg(reinterpret_cast<const unsigned*>(at));
    const uint2 middle = __ldg(reinterpret_cast<const uint2*>(at + 4));
    to[1] = middle.x, to[2] = middle.y;
    to[3] = __ldg(reinterpret_cast<const unsigned*>(at + 12));
  }
};

/// Four results rounded half to even, saturated and packed into a word.
__device__ __forceinline__ unsigned packed_bytes(const float* x) {
  unsigned high = 0, packed = 0;
  asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, 0;"
      : "=r"(high)
      : "r"(__float2int_rn(x[3])), "r"(__float2int_rn(x[2])));
  asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;"
      : "=r"(packed)
      : "r"(__float2int_rn(x[1])), "r"(__float2int_rn(x[0])), "r"(high));
  return packed;
}

template <bool kEdge, int kWidth>
__device__ __forceinline__ void store_bytes(const float (&x)[kWidth], std::byte* to, int width) {
  const uint2 bytes = make_uint2(packed_bytes(x), packed_bytes(x + 4));
  if (kEdge && width < kWidth) {
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
      if (i < width) to[i] = static_cast<std::byte>((i < 4 ? bytes.x : bytes.y) >> i % 4 * 8);
    }
  } else {
    *reinterpret_cast<uint2*>(to) = bytes;
  }
}

/// Computes a thread's columns of a segment. `to` points at its elements of the segment's first result row.
template <int kPrefetchRows, int kChannels, int kTaps, bool kEdge>
__device__ __forceinline__ void march(const ByteRows<kChannels, kTaps, kEdge>& source, const BytesTaps& taps,
                                      int rows, std::byte* to, int pitch, int width) {
  using Shape = ByteShape<kChannels, kTaps>;
  using Rows = ByteRows<kChannels, kTaps, kEdge>;
  constexpr int kWidth = Shape::kWidth;
  unsigned prefetched[kPrefetchRows][Rows::kLoads];
#pragma unroll
  for (int a = 0; a < kPrefetchRows; ++a) source.load(a, prefetched[a]);
  float sum[kTaps - 1][kWidth] = {};  // partial sums of the next results: sum[k] has taps 0 to k
  to -= std::int64_t{kTaps - 1} * pitch;
#pragma unroll 1
  for (int step = 0; step < rows + kTaps - 1; step += kPrefetchRows) {
#pragma unroll
    for (int a = 0; a < kPrefetchRows; ++a) {
      float input[Rows::kInputs], row_sum[kWidth], result[kWidth];
      source.unpack(prefetched[a], input);
      source.load(step + a + kPrefetchRows, prefetched[a]);
#pragma unroll
      for (int u = 0; u < kTaps; ++u) {
#pragma unroll
        for (int i = 0; i < kWidth; ++i)
          row_sum[i] =
              device::fused_multiply_add(taps.row[u], input[i + u * kChannels], u == 0 ? 0.0f : row_sum[i]);
      }
#pragma unroll
      for (int u = kTaps - 1; u >= 0; --u) {
#pragma unroll
        for (int i = 0; i < kWidth; ++i) {
          float& next = u == kTaps - 1 ? result[i] : sum[u][i];
          next = device::fused_multiply_add(taps.col[u], row_sum[i], u == 0 ? 0.0f : sum[u - 1][i]);
        }
      }
      const int done = step + a - (kTaps - 1);
      if (done >= 0 && done < rows) store_bytes<kEdge>(result, to, width);
      to += pitch;
    }
  }
}

/// Fills the tables of rows and of `staged` columns, beginning with element `begin` of the image's row.
template <int kChannels, int kTaps>
__device__ __forceinline__ void find_borders(const BytesPass& p, ByteBorders<kChannels, kTaps>& borders,
                                             std::int64_t begin, int staged) {
  using Borders = ByteBorders<kChannels, kTaps>;
  constexpr int kRadius = Borders::kRadius;
#pragma unroll 1
  for (int e = static_cast<int>(threadIdx.x) - 2 * kRadius; e < staged; e += static_cast<int>(blockDim.x)) {
    const bool is_row = e < 0;
    const int r = e + 2 * kRadius;
    const std::int64_t at = begin + e, col = at / kChannels - (at % kChannels < 0);
    const std::int64_t index = !is_row ? col : r < kRadius ? r - kRadius : p.image_rows + r - kRadius;
    const std::int64_t in = border_index(index, is_row ? p.image_rows : p.image_cols, p.border);
    if (is_row)
      borders.row[r] = in < 0 ? Borders::kConstant : static_cast<int>(in - index);
    else if (col < p.first_col || col >= p.end_col)
      borders.column[e] = 0;
    else
      borders.column[e] =
          in < 0 ? Borders::kConstant : static_cast<int>((in - col) * kChannels + at - p.in_begin);
  }
}

/// One block for each strip and segment, as in fused_pass. kTaps: number of taps of either filter.
template <int kChannels, int kTaps>
__global__ void __launch_bounds__(ByteShape<kChannels, kTaps>::kThreads, ByteShape<kChannels, kTaps>::kBlocks)
    fused_bytes(const __grid_constant__ BytesPass p, const __grid_constant__ BytesTaps taps) {
  using Shape = ByteShape<kChannels, kTaps>;
  using Borders = ByteBorders<kChannels, kTaps>;
  __shared__ Borders borders;
  const auto block = static_cast<int>(blockIdx.x), thread = static_cast<int>(threadIdx.x),
             threads = static_cast<int>(blockDim.x);
  const int edge_strips = min(p.strips, 2), inner_block = block - edge_strips * p.segments;
  const int strip = inner_block < 0 ? block % edge_strips * (p.strips - 1) : 1 + inner_block % (p.strips - 2);
  const std::int64_t first =
      (inner_block < 0 ? block / edge_strips : inner_block / (p.strips - 2)) * p.segment_rows;
  const auto rows = static_cast<int>(min(p.segment_rows, p.rows - first));
  const std::int64_t element = std::int64_t{strip} * p.strip_elements;  // of the result
  const std::int64_t top = p.first_row + first - kTaps / 2;             // of the image
  const std::int64_t begin = element + (p.first_col + kTaps / 2) * kChannels - Shape::kHalo;
  const int staged = threads * Shape::kWidth + 2 * Shape::kHalo;
  const bool edge =
      begin < p.in_begin || begin + staged > p.in_end || element + threads * Shape::kWidth > p.elements;
  find_borders(p, borders, begin, edge ? staged : 0);
  __syncthreads();
  const int thread_offset = thread * Shape::kWidth, warp_offset = thread / 32 * 32 * Shape::kWidth;
  const int width = static_cast<int>(min(std::int64_t{Shape::kWidth}, p.elements - element - thread_offset));
  if (width <= 0) return;
  const auto run_march = [&]<bool kEdge>(std::bool_constant<kEdge>) {
    const std::uint8_t* const row = p.from.template row<const std::uint8_t>(top - p.in_row);
    const ByteRows<kChannels, kTaps, kEdge> source{
        borders,
        kEdge ? row : row + (begin - p.in_begin) + thread_offset,
        borders.column + thread_offset + Shape::kHalo - Shape::kReach,
        static_cast<int>(p.from.pitch_bytes),
        static_cast<int>(max(std::int64_t{0}, -top)),
        static_cast<int>(min(p.image_rows - top, std::int64_t{rows + kTaps})),
        rows + kTaps - 2,
        p.packed_border};
    march<kEdge ? 1 : Shape::kPrefetchRows>(source, taps, rows,
                                            p.to.data + first * p.to.pitch_bytes + element + thread_offset,
                                            static_cast<int>(p.to.pitch_bytes), width);
  };
  // As `edge`, for this warp.
  const bool at_edge = begin + warp_offset < p.in_begin ||
                       begin + warp_offset + 32 * Shape::kWidth + 2 * Shape::kHalo > p.in_end ||
                       element + warp_offset + 32 * Shape::kWidth > p.elements;
  at_edge ? run_march(std::true_type{}) : run_march(std::false_type{});
}

}  // namespace sepconv::conv_cuda
