// The ladder's kernels. Each rung changes one thing: naive -> taps in constant memory -> a tile in shared
// memory.
#include <cuda_runtime.h>

#include "bench/conv/ladder.hpp"
#include "core/error.hpp"
#include "kernels/cuda/device_pixel.cuh"

namespace sepconv::conv_ladders {
namespace {

constexpr int kSide = 32;  // of a block, in threads and in pixels of the result
constexpr int kThreads = kSide * kSide;
constexpr int kMaxTaps = 2 * static_cast<int>(kMaxLadderRadius) + 1;
static_assert((kSide + kMaxTaps - 1) * kSide * sizeof(double) <= 48 << 10,
              "a tile fits what no block has to ask for");

/// A pass from `in`, of which a result's taps begin at its own place, to `out`. Pitches in elements.
template <class A>
struct Pass {
  const A* in;
  std::int64_t in_pitch;
  A* out;
  std::int64_t out_pitch;
  int rows, cols;  // of out
  int taps;
};

/// Taps in global memory.
template <class A>
struct GlobalTaps {
  const A* tap;
};
/// Taps in the launch's own parameters, which lie in constant memory.
template <class A>
struct ConstantTaps {
  A tap[kMaxTaps];
};

__device__ __forceinline__ int block_col() { return static_cast<int>(blockIdx.x) * kSide; }
__device__ __forceinline__ int block_row() { return static_cast<int>(blockIdx.y) * kSide; }
__device__ __forceinline__ int thread_col() { return static_cast<int>(threadIdx.x); }
__device__ __forceinline__ int thread_row() { return static_cast<int>(threadIdx.y); }

/// Rungs 1 and 2, which differ in where the taps lie and in nothing else. Every thread reads all its inputs
/// from global memory.
template <LadderPass kPass, class A, class Taps>
__global__ void __launch_bounds__(kThreads)
    one_thread_a_pixel(const Pass<A> p, const __grid_constant__ Taps taps) {
  const int col = block_col() + thread_col();
  const int row = block_row() + thread_row();
  if (col >= p.cols || row >= p.rows) return;
  const A* in = p.in + row * p.in_pitch + col;
  const std::int64_t step = kPass == LadderPass::rows ? 1 : p.in_pitch;
  A sum = 0;
  for (int k = 0; k < p.taps; ++k) sum = device::fused_multiply_add(taps.tap[k], in[k * step], sum);
  p.out[row * p.out_pitch + col] = sum;
}

/// Rung 3, row pass: 32 rows of 32 + 2 radius inputs.
template <class A>
__global__ void __launch_bounds__(kThreads)
    shared_tile_rows(const Pass<A> p, const __grid_constant__ ConstantTaps<A> taps) {
  extern __shared__ __align__(16) unsigned char memory[];
  const int halo = p.taps - 1;  // of both sides
  A* const tile = reinterpret_cast<A*>(memory) + thread_row() * (kSide + halo);
  const int row = block_row() + thread_row();
  const int col = block_col() + thread_col();

  // Load: a warp reads 32 neighbours at a time.
  if (row < p.rows) {
    const A* in = p.in + row * p.in_pitch;
    for (int at = thread_col(); at < kSide + halo && block_col() + at < p.cols + halo; at += kSide)
      tile[at] = in[block_col() + at];
  }
  __syncthreads();

  // Accumulate and store.
  if (col >= p.cols || row >= p.rows) return;
  A sum = 0;
  for (int k = 0; k < p.taps; ++k) sum = device::fused_multiply_add(taps.tap[k], tile[thread_col() + k], sum);
  p.out[row * p.out_pitch + col] = sum;
}

/// Rung 3, column pass: 32 + 2 radius rows of 32 inputs.
template <class A>
__global__ void __launch_bounds__(kThreads)
    shared_tile_cols(const Pass<A> p, const __grid_constant__ ConstantTaps<A> taps) {
  extern __shared__ __align__(16) unsigned char memory[];
  const int halo = p.taps - 1;
  A* const tile = reinterpret_cast<A*>(memory) + thread_col();
  const int row = block_row() + thread_row();
  const int col = block_col() + thread_col();

  // Load: a warp reads a row of the tile, the block 32 rows at a time.
  if (col < p.cols) {
    for (int at = thread_row(); at < kSide + halo && block_row() + at < p.rows + halo; at += kSide) {
      tile[at * kSide] = p.in[(block_row() + at) * p.in_pitch + col];
    }
  }
  __syncthreads();

  // Accumulate and store.
  if (col >= p.cols || row >= p.rows) return;
  A sum = 0;
  for (int k = 0; k < p.taps; ++k)
    sum = device::fused_multiply_add(taps.tap[k], tile[(thread_row() + k) * kSide], sum);
  p.out[row * p.out_pitch + col] = sum;
}

template <class A>
ConstantTaps<A> constant_taps(const LadderTaps& taps) {
  ConstantTaps<A> constant{};
  for (std::size_t k = 0; k < taps.host().size(); ++k) constant.tap[k] = static_cast<A>(taps.host()[k]);
  return constant;
}

template <LadderPass kPass, class A>
void launch_rung(LadderRung rung, const Pass<A>& p, const LadderTaps& taps, DeviceStream stream) {
  const dim3 block(kSide, kSide);
  const dim3 grid(static_cast<unsigned>(ceil_div(p.cols, kSide)),
                  static_cast<unsigned>(ceil_div(p.rows, kSide)));
  const std::size_t tile_bytes = static_cast<std::size_t>(kSide + p.taps - 1) * kSide * sizeof(A);
  switch (rung) {
    case LadderRung::naive: {
      const GlobalTaps<A> global{reinterpret_cast<const A*>(taps.device())};
      one_thread_a_pixel<kPass><<<grid, block, 0, stream>>>(p, global);
      break;
    }
    case LadderRung::constant_taps:
      one_thread_a_pixel<kPass><<<grid, block, 0, stream>>>(p, constant_taps<A>(taps));
      break;
    case LadderRung::shared_tile:
      if constexpr (kPass == LadderPass::rows) {
        shared_tile_rows<<<grid, block, tile_bytes, stream>>>(p, constant_taps<A>(taps));
      } else {
        shared_tile_cols<<<grid, block, tile_bytes, stream>>>(p, constant_taps<A>(taps));
      }
      break;
  }
}

}  // namespace

void launch(LadderRung rung, LadderPass pass, const LadderTaps& taps, const ConstPixelView& in,
            const PixelView& out, DeviceStream stream) {
  const Arithmetic arithmetic = taps.type() == PixelType::f64 ? Arithmetic::f64 : Arithmetic::f32;
  visit_arithmetic(arithmetic, [&]<class A>(std::type_identity<A>) {
    constexpr auto kBytes = static_cast<std::int64_t>(sizeof(A));
    const Pass<A> p{.in = reinterpret_cast<const A*>(in.data),
                    .in_pitch = in.pitch_bytes / kBytes,
                    .out = reinterpret_cast<A*>(out.data),
                    .out_pitch = out.pitch_bytes / kBytes,
                    .rows = static_cast<int>(out.extent.rows),
                    .cols = static_cast<int>(out.extent.cols),
                    .taps = static_cast<int>(taps.count())};
    pass == LadderPass::rows ? launch_rung<LadderPass::rows>(rung, p, taps, stream)
                             : launch_rung<LadderPass::cols>(rung, p, taps, stream);
  });
  check_cuda(cudaGetLastError(), "launching a kernel of the ladder");
}

void fill(std::byte* memory, int value, std::int64_t bytes, DeviceStream stream) {
  check_cuda(cudaMemsetAsync(memory, value, static_cast<std::size_t>(bytes), stream),
             "filling device memory");
}

}  // namespace sepconv::conv_ladders
