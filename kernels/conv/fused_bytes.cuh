// Both passes over bytes in one kernel that needs no shared memory: a thread marches down a few columns and
// keeps the pending sums of their next results in registers. For short filters. Private to fused_bytes.cu.
//
// A byte becomes an operand by being moved to the low end of a register: as an f32 that is byte * 2^-149, and
// BytesTaps has the row taps 2^110 and the column taps 2^39 times as large. Powers of two change no bit where
// nothing underflows (bytes_scaled).
#pragma once

#include <limits>

#include "kernels/conv/border.hpp"
#include "kernels/cuda/device_pixel.cuh"

namespace sepconv::conv_cuda {

/// Powers of two that taps are scaled by.
constexpr int kRowScale = 110, kColumnScale = 149 - kRowScale;

/// A convolution as the kernel sees it. Elements are counted from the beginning of the image's row.
struct BytesPass {
  device::Rows from;  ///< its first element is `held` of row `in_row`
  device::Rows to;
  std::int64_t in_row;
  std::int64_t held, held_end;  ///< elements of a row that `from` has
  std::int64_t image_rows, image_cols;
  std::int64_t first_col, end_col;         ///< columns that the result needs, halo included
  std::int64_t first_row, rows, elements;  ///< image row of the result, and its extent
  std::int64_t segment_rows;               ///< of the result, that a block marches over
  int strips, segments, strip_elements;
  BorderMode border;
  unsigned outside;  ///< four elements of a constant border
};

/// Both filters by value, scaled.
struct BytesTaps {
  static constexpr int kMax = 9;
  float row[kMax], col[kMax];
};

template <int kChannels, int kTaps>
struct ByteShape {
  static constexpr int kReach = kTaps / 2 * kChannels;     ///< elements beyond a thread's own, on either side
  static constexpr int kHalo = 4;                          ///< that it loads there
  static constexpr int kWidth = 8;                         ///< elements of a thread
  static constexpr int kWords = (kWidth + 2 * kHalo) / 4;  ///< that a thread loads of a row
  static constexpr int kAhead = 4;                         ///< rows that are on their way
  static constexpr int kThreads = 128;
  static constexpr int kStaged = kThreads * kWidth + 2 * kHalo;  ///< elements of a block's row with its halo
  /// That a multiprocessor holds, at least. Measured.
  static constexpr int kBlocks = kTaps == 3 && kChannels == 1 ? 6 : kTaps <= 5 ? 5 : 4;
  static_assert(kReach <= kHalo);
};

/// Where a block's rows and columns come from, where they lie beyond the image: in shared memory.
template <int kChannels, int kTaps>
struct ByteBorders {
  using Shape = ByteShape<kChannels, kTaps>;
  static constexpr int kConstant = std::numeric_limits<int>::min();
  static constexpr int kRadius = kTaps / 2;
  int row[2 * kRadius];        ///< above the image and below it: how far to the one that stands there
  int column[Shape::kStaged];  ///< element of the row from in_col on
};

/// Byte i of the words as byte * 2^-149.
template <int kWords>
__device__ __forceinline__ float tiny_byte(const unsigned (&word)[kWords], int i) {
  return __uint_as_float(__byte_perm(word[i / 4], 0, 0x4440 + i % 4));
}

/// A segment's rows on their way to a thread's registers: words, or, in warps at an edge of the image, single
/// bytes, so that no thread waits for another.
template <int kChannels, int kTaps, bool kEdge>
struct ByteRows {
  using Shape = ByteShape<kChannels, kTaps>;
  using Borders = ByteBorders<kChannels, kTaps>;
  static constexpr int kInputs = Shape::kWidth + 2 * Shape::kReach;
  static constexpr int kLoads = kEdge ? kInputs : Shape::kWords;

  const Borders& borders;
  const std::uint8_t* from;  ///< line 0 of the segment: this thread's first word, or at an edge column in_col
  const int* column;         ///< of this thread's first input
  int pitch;
  int above, inside;  ///< lines of the segment above the image, and up to the image's end
  int last;           ///< line that the segment needs
  unsigned outside;   ///< four elements of a constant border

  __device__ __forceinline__ void load(int line, unsigned (&to)[kLoads]) const {
    line = min(line, last);
    if (line < above || line >= inside) {
      const int shift = borders.row[line < above ? kTaps / 2 - above + line : kTaps / 2 + line - inside];
      if (shift == Borders::kConstant) {
#pragma unroll
        for (int j = 0; j < kLoads; ++j) to[j] = kEdge ? outside & 0xff : outside;
        return;
      }
      line += shift;
    }
    const std::uint8_t* const at = from + std::int64_t{line} * pitch;
    if constexpr (kEdge) {
#pragma unroll
      for (int i = 0; i < kInputs; ++i) {
        const int place = column[i];
        to[i] = outside & 0xff;
        if (place != Borders::kConstant) to[i] = __ldg(at + place);
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
    const uint2 own = __ldg(reinterpret_cast<const uint2*>(at + 4));
    to[1] = own.x, to[2] = own.y;
    to[3] = __ldg(reinterpret_cast<const unsigned*>(at + 12));
  }
};

/// Four results as they are stored: half to even, saturated.
__device__ __forceinline__ unsigned packed_bytes(const float* x) {
  unsigned high = 0, all = 0;
  asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, 0;"
      : "=r"(high)
      : "r"(__float2int_rn(x[3])), "r"(__float2int_rn(x[2])));
  asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;"
      : "=r"(all)
      : "r"(__float2int_rn(x[1])), "r"(__float2int_rn(x[0])), "r"(high));
  return all;
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

/// A thread's share of a segment. `to`: its elements of the segment's first row of the result.
template <int kAhead, int kChannels, int kTaps, bool kEdge>
__device__ __forceinline__ void march(const ByteRows<kChannels, kTaps, kEdge>& source, const BytesTaps& taps,
                                      int rows, std::byte* to, int pitch, int width) {
  using Shape = ByteShape<kChannels, kTaps>;
  using Rows = ByteRows<kChannels, kTaps, kEdge>;
  constexpr int kWidth = Shape::kWidth;
  unsigned ahead[kAhead][Rows::kLoads];
#pragma unroll
  for (int a = 0; a < kAhead; ++a) source.load(a, ahead[a]);
  float sum[kTaps - 1][kWidth] = {};  // of the next results: sum[k] has taps 0 to k
  to -= std::int64_t{kTaps - 1} * pitch;
#pragma unroll 1
  for (int step = 0; step < rows + kTaps - 1; step += kAhead) {
#pragma unroll
    for (int a = 0; a < kAhead; ++a) {
      float input[Rows::kInputs], along[kWidth], result[kWidth];
      source.unpack(ahead[a], input);
      source.load(step + a + kAhead, ahead[a]);
#pragma unroll
      for (int u = 0; u < kTaps; ++u) {
#pragma unroll
        for (int i = 0; i < kWidth; ++i)
          along[i] =
              device::fused_multiply_add(taps.row[u], input[i + u * kChannels], u == 0 ? 0.0f : along[i]);
      }
#pragma unroll
      for (int u = kTaps - 1; u >= 0; --u) {
#pragma unroll
        for (int i = 0; i < kWidth; ++i) {
          float& next = u == kTaps - 1 ? result[i] : sum[u][i];
          next = device::fused_multiply_add(taps.col[u], along[i], u == 0 ? 0.0f : sum[u - 1][i]);
        }
      }
      const int done = step + a - (kTaps - 1);
      if (done >= 0 && done < rows) store_bytes<kEdge>(result, to, width);
      to += pitch;
    }
  }
}

/// Fills the tables of rows and of `staged` columns, the first of which is element `begin` of the image's
/// row.
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
          in < 0 ? Borders::kConstant : static_cast<int>((in - col) * kChannels + at - p.held);
  }
}

/// A block for every strip and segment, as of fused_pass. kTaps: of both filters.
template <int kChannels, int kTaps>
__global__ void __launch_bounds__(ByteShape<kChannels, kTaps>::kThreads, ByteShape<kChannels, kTaps>::kBlocks)
    fused_bytes(const __grid_constant__ BytesPass p, const __grid_constant__ BytesTaps taps) {
  using Shape = ByteShape<kChannels, kTaps>;
  using Borders = ByteBorders<kChannels, kTaps>;
  __shared__ Borders borders;
  const auto block = static_cast<int>(blockIdx.x), thread = static_cast<int>(threadIdx.x),
             threads = static_cast<int>(blockDim.x);
  const int edges = min(p.strips, 2), others = block - edges * p.segments;
  const int strip = others < 0 ? block % edges * (p.strips - 1) : 1 + others % (p.strips - 2);
  const std::int64_t first = (others < 0 ? block / edges : others / (p.strips - 2)) * p.segment_rows;
  const auto rows = static_cast<int>(min(p.segment_rows, p.rows - first));
  const std::int64_t element = std::int64_t{strip} * p.strip_elements;  // of the result
  const std::int64_t top = p.first_row + first - kTaps / 2;             // of the image
  const std::int64_t begin = element + (p.first_col + kTaps / 2) * kChannels - Shape::kHalo;
  const int staged = threads * Shape::kWidth + 2 * Shape::kHalo;
  const bool edge =
      begin < p.held || begin + staged > p.held_end || element + threads * Shape::kWidth > p.elements;
  find_borders(p, borders, begin, edge ? staged : 0);
  __syncthreads();
  const int mine = thread * Shape::kWidth, warp = thread / 32 * 32 * Shape::kWidth;
  const int width = static_cast<int>(min(std::int64_t{Shape::kWidth}, p.elements - element - mine));
  if (width <= 0) return;
  const auto go = [&]<bool kEdge>(std::bool_constant<kEdge>) {
    const std::uint8_t* const row = p.from.template row<const std::uint8_t>(top - p.in_row);
    const ByteRows<kChannels, kTaps, kEdge> source{
        borders,
        kEdge ? row : row + (begin - p.held) + mine,
        borders.column + mine + Shape::kHalo - Shape::kReach,
        static_cast<int>(p.from.pitch_bytes),
        static_cast<int>(max(std::int64_t{0}, -top)),
        static_cast<int>(min(p.image_rows - top, std::int64_t{rows + kTaps})),
        rows + kTaps - 2,
        p.outside};
    march<kEdge ? 1 : Shape::kAhead>(source, taps, rows,
                                     p.to.data + first * p.to.pitch_bytes + element + mine,
                                     static_cast<int>(p.to.pitch_bytes), width);
  };
  // As above, of a warp.
  const bool at_edge = begin + warp < p.held ||
                       begin + warp + 32 * Shape::kWidth + 2 * Shape::kHalo > p.held_end ||
                       element + warp + 32 * Shape::kWidth > p.elements;
  at_edge ? go(std::true_type{}) : go(std::false_type{});
}

}  // namespace sepconv::conv_cuda
