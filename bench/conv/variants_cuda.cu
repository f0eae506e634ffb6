// The convolution kernels. Each variant changes one thing: naive -> taps in constant memory -> a tile in
// shared memory.
#include <cuda_runtime.h>

#include "bench/conv/variants.hpp"
#include "core/error.hpp"
#include "kernels/cuda/device_pixel.cuh"

namespace sepconv::conv_variants {
namespace {

constexpr int kSide = 32;  // of a block, in threads and in output pixels
constexpr int kThreads = kSide * kSide;
constexpr int kMaxTaps = 2 * static_cast<int>(kMaxVariantRadius) + 1;
static_assert((kSide + kMaxTaps - 1) * kSide * sizeof(double) <= 48 << 10,
              "a tile fits what no block has to ask for");

/// A pass from `in` to `out`. out(row, col) uses inputs from in(row, col) onwards. Pitches are in elements.
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
/// Taps in the kernel's parameters, which are in constant memory.
template <class A>
struct ConstantTaps {
  A tap[kMaxTaps];
};

__device__ __forceinline__ int block_col() { return static_cast<int>(blockIdx.x) * kSide; }
__device__ __forceinline__ int block_row() { return static_cast<int>(blockIdx.y) * kSide; }
__device__ __forceinline__ int thread_col() { return static_cast<int>(threadIdx.x); }
__device__ __forceinline__ int thread_row() { return static_cast<int>(threadIdx.y); }

/// Variants naive and constant_taps, which differ only in the memory of the taps. Every thread reads all its
/// inputs from global memory.
template <ConvPass kPass, class A, class Taps>
__global__ void __launch_bounds__(kThreads)
    one_thread_per_pixel(const Pass<A> pass_args, const __grid_constant__ Taps taps) {
  const int col = block_col() + thread_col();
  const int row = block_row() + thread_row();
  if (col >= pass_args.cols || row >= pass_args.rows) return;
  const A* in = pass_args.in + row * pass_args.in_pitch + col;
  const std::int64_t step = kPass == ConvPass::rows ? 1 : pass_args.in_pitch;
  A sum = 0;
  for (int k = 0; k < pass_args.taps; ++k) sum = device::fused_multiply_add(taps.tap[k], in[k * step], sum);
  pass_args.out[row * pass_args.out_pitch + col] = sum;
}

/// Variant shared_tile, row pass: 32 rows of 32 + 2 radius inputs.
template <class A>
__global__ void __launch_bounds__(kThreads)
    shared_tile_rows(const Pass<A> pass_args, const __grid_constant__ ConstantTaps<A> taps) {
  extern __shared__ __align__(16) unsigned char memory[];
  const int halo = pass_args.taps - 1;  // of both sides together
  A* const tile = reinterpret_cast<A*>(memory) + thread_row() * (kSide + halo);
  const int row = block_row() + thread_row();
  const int col = block_col() + thread_col();

  // Load: a warp reads 32 adjacent elements at a time.
  if (row < pass_args.rows) {
    const A* in = pass_args.in + row * pass_args.in_pitch;
    for (int i = thread_col(); i < kSide + halo && block_col() + i < pass_args.cols + halo; i += kSide)
      tile[i] = in[block_col() + i];
  }
  __syncthreads();

  // Accumulate and store.
  if (col >= pass_args.cols || row >= pass_args.rows) return;
  A sum = 0;
  for (int k = 0; k < pass_args.taps; ++k)
    sum = device::fused_multiply_add(taps.tap[k], tile[thread_col() + k], sum);
  pass_args.out[row * pass_args.out_pitch + col] = sum;
}

/// Variant shared_tile, column pass: 32 + 2 radius rows of 32 inputs.
template <class A>
__global__ void __launch_bounds__(kThreads)
    shared_tile_cols(const Pass<A> pass_args, const __grid_constant__ ConstantTaps<A> taps) {
  extern __shared__ __align__(16) unsigned char memory[];
  const int halo = pass_args.taps - 1;
  A* const tile = reinterpret_cast<A*>(memory) + thread_col();
  const int row = block_row() + thread_row();
  const int col = block_col() + thread_col();

  // Load: a warp reads a row of the tile, the block 32 rows at a time.
  if (col < pass_args.cols) {
    for (int i = thread_row(); i < kSide + halo && block_row() + i < pass_args.rows + halo; i += kSide) {
      tile[i * kSide] = pass_args.in[(block_row() + i) * pass_args.in_pitch + col];
    }
  }
  __syncthreads();

  // Accumulate and store.
  if (col >= pass_args.cols || row >= pass_args.rows) return;
  A sum = 0;
  for (int k = 0; k < pass_args.taps; ++k)
    sum = device::fused_multiply_add(taps.tap[k], tile[(thread_row() + k) * kSide], sum);
  pass_args.out[row * pass_args.out_pitch + col] = sum;
}

template <class A>
ConstantTaps<A> constant_taps(const VariantTaps& taps) {
  ConstantTaps<A> constant{};
  for (std::size_t k = 0; k < taps.host().size(); ++k) constant.tap[k] = static_cast<A>(taps.host()[k]);
  return constant;
}

template <ConvPass kPass, class A>
void launch_variant(ConvVariant variant, const Pass<A>& pass_args, const VariantTaps& taps,
                    DeviceStream stream) {
  const dim3 block(kSide, kSide);
  const dim3 grid(static_cast<unsigned>(ceil_div(pass_args.cols, kSide)),
                  static_cast<unsigned>(ceil_div(pass_args.rows, kSide)));
  const std::size_t tile_bytes = static_cast<std::size_t>(kSide + pass_args.taps - 1) * kSide * sizeof(A);
  switch (variant) {
    case ConvVariant::naive: {
      const GlobalTaps<A> global{reinterpret_cast<const A*>(taps.device())};
      one_thread_per_pixel<kPass><<<grid, block, 0, stream>>>(pass_args, global);
      break;
    }
    case ConvVariant::constant_taps:
      one_thread_per_pixel<kPass><<<grid, block, 0, stream>>>(pass_args, constant_taps<A>(taps));
      break;
    case ConvVariant::shared_tile:
      if constexpr (kPass == ConvPass::rows) {
        shared_tile_rows<<<grid, block, tile_bytes, stream>>>(pass_args, constant_taps<A>(taps));
      } else {
        shared_tile_cols<<<grid, block, tile_bytes, stream>>>(pass_args, constant_taps<A>(taps));
      }
      break;
  }
}

}  // namespace

void launch(ConvVariant variant, ConvPass pass, const VariantTaps& taps, const ConstPixelView& in,
            const PixelView& out, DeviceStream stream) {
  const Arithmetic arithmetic = taps.type() == PixelType::f64 ? Arithmetic::f64 : Arithmetic::f32;
  visit_arithmetic(arithmetic, [&]<class A>(std::type_identity<A>) {
    constexpr auto kBytes = static_cast<std::int64_t>(sizeof(A));
    const Pass<A> pass_args{.in = reinterpret_cast<const A*>(in.data),
                            .in_pitch = in.pitch_bytes / kBytes,
                            .out = reinterpret_cast<A*>(out.data),
                            .out_pitch = out.pitch_bytes / kBytes,
                            .rows = static_cast<int>(out.extent.rows),
                            .cols = static_cast<int>(out.extent.cols),
                            .taps = static_cast<int>(taps.count())};
    pass == ConvPass::rows ? launch_variant<ConvPass::rows>(variant, pass_args, taps, stream)
                           : launch_variant<ConvPass::cols>(variant, pass_args, taps, stream);
  });
  check_cuda(cudaGetLastError(), "launching a kernel of the benchmark");
}

void fill(std::byte* memory, int value, std::int64_t bytes, DeviceStream stream) {
  check_cuda(cudaMemsetAsync(memory, value, static_cast<std::size_t>(bytes), stream),
             "filling device memory");
}

}  // namespace sepconv::conv_variants
