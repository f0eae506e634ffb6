// Transposition of many small matrices, contiguous on both sides (SmallJob of tiles.hpp): a block copies
// several matrices into shared memory unchanged and gathers the output's words.
#pragma once

#include "kernels/transpose/tile_kernel.cuh"

namespace sepconv::transposing {

constexpr int kSmallThreads = 256;
constexpr int kSmallLoads = 8;

/// Block: kSmallThreads. Grid: one block per params.tile_items matrices. Dynamic shared memory:
/// params.shared_bytes. Addresses are multiples of Unit.
template <int Element, int Unit>
__global__ void __launch_bounds__(kSmallThreads) transpose_small(const SmallJob params) {
  extern __shared__ uint4 small_memory[];
  std::byte* const shared = reinterpret_cast<std::byte*>(small_memory);
  const unsigned rows = params.rows.value;
  const unsigned cols = params.cols;
  const unsigned matrix = params.matrix.value;  // elements
  const std::int64_t first_item = static_cast<std::int64_t>(blockIdx.x) * params.tile_items;
  const unsigned bytes = clamped_count(params.job.items - first_item, params.tile_items) * matrix * Element;
  const std::byte* const in = params.job.in + first_item * (static_cast<std::int64_t>(matrix) * Element);
  std::byte* const out = params.job.out + first_item * (static_cast<std::int64_t>(matrix) * Element);
  const unsigned in_shift = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(in)) & 3U;
  const int out_shift = static_cast<int>(reinterpret_cast<std::uintptr_t>(out) & 3U);

  for (unsigned first = threadIdx.x * 4; first < bytes + in_shift; first += kSmallThreads * kSmallLoads * 4) {
    unsigned words[kSmallLoads];
#pragma unroll
    for (int k = 0; k < kSmallLoads; ++k) {
      const int offset = static_cast<int>(first + k * kSmallThreads * 4) - static_cast<int>(in_shift);
      words[k] = load_within(in, offset, 0, bytes);
    }
#pragma unroll
    for (int k = 0; k < kSmallLoads; ++k) {
      const unsigned to = first + k * kSmallThreads * 4;
      if (to < bytes + in_shift) *reinterpret_cast<unsigned*>(shared + padded(to)) = words[k];
    }
  }
  __syncthreads();

#pragma unroll 4
  for (int offset = static_cast<int>(threadIdx.x) * 4 - out_shift; offset < static_cast<int>(bytes);
       offset += kSmallThreads * 4) {
    const unsigned begin = static_cast<unsigned>(max(offset, 0));
    const unsigned number = begin / Element;
    unsigned part = begin - number * Element;
    const unsigned item = quotient(number, params.matrix);
    const unsigned within = number - item * matrix;
    unsigned col = quotient(within, params.rows);
    unsigned row = within - col * rows;
    unsigned from = (item * matrix + row * cols + col) * Element + in_shift;
    if constexpr (Unit == 4) {
      *reinterpret_cast<unsigned*>(out + offset) =
          *reinterpret_cast<const unsigned*>(shared + padded(from + part));
    } else {
      unsigned value = 0;
#pragma unroll
      for (int i = 0; i < 4 / Unit; ++i) {
        if (offset + Unit * i < 0 || offset + Unit * i >= static_cast<int>(bytes)) continue;
        value |= static_cast<unsigned>(*reinterpret_cast<const Word<Unit>*>(shared + padded(from + part)))
                 << (8 * Unit * i);
        part += Unit;
        if (part < Element) continue;
        part = 0;
        from += cols * Element;  // the next row
        if (++row < rows) continue;
        row = 0;
        from -= (matrix - 1) * Element;  // the next column, or the next matrix
        if (++col < cols) continue;
        col = 0;
        from += (matrix - cols) * Element;
      }
      store_within(out, offset, value, bytes);
    }
  }
}

/// The same for elements of 1 and 2 bytes in word-aligned matrices whose rows and columns are multiples of a
/// micro tile: micro tiles are transposed in registers between two halves of shared memory.
template <int Element>
__global__ void __launch_bounds__(kSmallThreads) transpose_small_micro(const SmallJob params) {
  constexpr int kMicro = 4 / Element;
  extern __shared__ uint4 micro_memory[];
  std::byte* const before = reinterpret_cast<std::byte*>(micro_memory);
  std::byte* const after = before + params.shared_bytes / 2;
  const unsigned rows = params.rows.value;
  const unsigned matrix_bytes = params.matrix.value * Element;
  const std::int64_t first_item = static_cast<std::int64_t>(blockIdx.x) * params.tile_items;
  const unsigned items = clamped_count(params.job.items - first_item, params.tile_items);
  const unsigned count = items * (matrix_bytes / 4);  // words
  const unsigned* const in =
      reinterpret_cast<const unsigned*>(params.job.in + first_item * static_cast<std::int64_t>(matrix_bytes));
  unsigned* const out =
      reinterpret_cast<unsigned*>(params.job.out + first_item * static_cast<std::int64_t>(matrix_bytes));

  for (unsigned first = threadIdx.x; first < count; first += kSmallThreads * kSmallLoads) {
    unsigned words[kSmallLoads];
#pragma unroll
    for (int k = 0; k < kSmallLoads; ++k) {
      if (first + k * kSmallThreads < count) words[k] = in[first + k * kSmallThreads];
    }
#pragma unroll
    for (int k = 0; k < kSmallLoads; ++k) {
      const unsigned number = first + k * kSmallThreads;
      if (number < count) *reinterpret_cast<unsigned*>(before + padded(number * 4)) = words[k];
    }
  }
  __syncthreads();

#pragma unroll 2
  for (unsigned number = threadIdx.x; number < count / kMicro; number += kSmallThreads) {
    const unsigned item = quotient(number, params.micros);
    const unsigned within = number - item * params.micros.value;
    const unsigned row = quotient(within, params.micro_cols);
    const unsigned col = within - row * params.micro_cols.value;
    const unsigned from = item * matrix_bytes + row * kMicro * params.cols * Element + col * 4;
    const unsigned to = item * matrix_bytes + col * kMicro * rows * Element + row * 4;
    unsigned words[kMicro];
#pragma unroll
    for (int micro_row = 0; micro_row < kMicro; ++micro_row)
      words[micro_row] =
          *reinterpret_cast<const unsigned*>(before + padded(from + micro_row * params.cols * Element));
    transpose_micro(words);
#pragma unroll
    for (int micro_row = 0; micro_row < kMicro; ++micro_row)
      *reinterpret_cast<unsigned*>(after + padded(to + micro_row * rows * Element)) = words[micro_row];
  }
  __syncthreads();

#pragma unroll 4
  for (unsigned number = threadIdx.x; number < count; number += kSmallThreads)
    out[number] = *reinterpret_cast<const unsigned*>(after + padded(number * 4));
}

}  // namespace sepconv::transposing
