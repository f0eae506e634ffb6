// exact_gemm on the device: tiles of both operands in shared memory, a square part of the result in each
// thread's registers.
#include <cuda_runtime.h>

#include <algorithm>

#include "kernels/gemm/exact_shape.hpp"
#include "kernels/pointwise/device_op.cuh"

namespace sepconv::engine {
namespace {

/// kOutputs: rows and columns of the result that a thread computes.
template <class A, int kOutputs>
struct ExactTuning {
  static constexpr int kVector = 16 / sizeof(A);  ///< elements per load from shared memory
  static constexpr int kSide = 16;                ///< threads of a block per dimension
  static constexpr int kThreads = kSide * kSide;
  static constexpr int kTile = kSide * kOutputs;  ///< rows and columns of the result per block
  static constexpr int kDepth = 16;               ///< length in k of a step
  static constexpr int kStaged =
      kTile * kDepth / kThreads;  ///< elements of an operand's tile that a thread loads
  static constexpr int kMaxGridSide = 65535;
};

template <class A>
constexpr int kManyOutputs = sizeof(A) == 4 ? 8 : 4;  ///< for results that occupy all multiprocessors
template <class A>
constexpr int kFewOutputs = kManyOutputs<A> / 2;  ///< for small results: gives more blocks
constexpr std::int64_t kFewBlocks = 256;          ///< about two per multiprocessor of a large GPU

/// Tiles of x (transposed) and of y: row k contains the factors with index k.
template <class A, int kOutputs>
struct Tiles {
  using Tuning = ExactTuning<A, kOutputs>;
  alignas(16) A x[Tuning::kDepth][Tuning::kTile + Tuning::kVector];
  alignas(16) A y[Tuning::kDepth][Tuning::kTile + Tuning::kVector];
};

/// Index within the tile of one row or column of a thread's outputs: groups of kVector neighbours,
/// interleaved over the block's threads.
template <class A, int kOutputs>
__device__ __forceinline__ int tile_index(int thread, int output) {
  using Tuning = ExactTuning<A, kOutputs>;
  return output / Tuning::kVector * (Tuning::kSide * Tuning::kVector) + thread * Tuning::kVector +
         output % Tuning::kVector;
}

template <class A, int kOutputs>
__device__ __forceinline__ void load_operand(const A* from, int thread, A (&to)[kOutputs]) {
  using Tuning = ExactTuning<A, kOutputs>;
#pragma unroll
  for (int i = 0; i < kOutputs; i += Tuning::kVector) {
    struct alignas(16) Vector {
      A element[Tuning::kVector];
    };
    const Vector vector = *reinterpret_cast<const Vector*>(from + tile_index<A, kOutputs>(thread, i));
#pragma unroll
    for (int j = 0; j < Tuning::kVector; ++j) to[i + j] = vector.element[j];
  }
}

/// A thread's elements of an operand's tile, in registers until the buffer in shared memory is free.
template <class A, int kOutputs>
struct Staging {
  using Tuning = ExactTuning<A, kOutputs>;
  A element[Tuning::kStaged];

  /// `along_k`: neighbouring threads load neighbouring k.
  static __device__ __forceinline__ int2 at(int i, bool along_k) {
    const int index = static_cast<int>(threadIdx.x) + i * Tuning::kThreads;
    return along_k ? make_int2(index % Tuning::kDepth, index / Tuning::kDepth)
                   : make_int2(index / Tuning::kTile, index % Tuning::kTile);
  }

  /// Loads elements (k, line) from k0 and `first` on; offset(k, line) in bytes. Elements outside are 0.
  template <class Offset>
  __device__ __forceinline__ void load_to_registers(const std::byte* data, PixelType type, std::int64_t k0,
                                                    std::int64_t k_end, std::int64_t first, std::int64_t end,
                                                    bool along_k, const Offset& offset) {
    device::visit(type, [&]<class T>(T) {
#pragma unroll
      for (int i = 0; i < Tuning::kStaged; ++i) {
        const int2 local = at(i, along_k);
        const std::int64_t k = k0 + local.x;
        const std::int64_t line = first + local.y;
        const bool inside = k < k_end && line < end;
        element[i] = inside ? static_cast<A>(*reinterpret_cast<const T*>(data + offset(k, line))) : A(0);
      }
    });
  }

  __device__ __forceinline__ void store_to_shared(A (&tile)[Tuning::kDepth][Tuning::kTile + Tuning::kVector],
                                                  bool along_k) const {
#pragma unroll
    for (int i = 0; i < Tuning::kStaged; ++i) {
      const int2 local = at(i, along_k);
      tile[local.x][local.y] = element[i];
    }
  }
};

/// sums += x y for one k.
template <class A, int kOutputs>
__device__ __forceinline__ void multiply(const Tiles<A, kOutputs>& tiles, int k, int down, int across,
                                         A (&sums)[kOutputs * kOutputs]) {
  A x[kOutputs], y[kOutputs];
  load_operand(tiles.x[k], down, x);
  load_operand(tiles.y[k], across, y);
#pragma unroll
  for (int i = 0; i < kOutputs; ++i) {
#pragma unroll
    for (int j = 0; j < kOutputs; ++j)
      sums[i * kOutputs + j] = device::fused_multiply_add(x[i], y[j], sums[i * kOutputs + j]);
  }
}

/// Computes the tile of the result from (row, col) on, double-buffered: while one pair of tiles is
/// multiplied, the next is loaded.
template <class A, int kOutputs>
__device__ __forceinline__ void compute_tile(const ExactShape& shape, const device::Store<A>& store,
                                             Tiles<A, kOutputs> (&tiles)[2], std::int64_t row,
                                             std::int64_t col, std::int64_t item) {
  using Tuning = ExactTuning<A, kOutputs>;
  const int down = static_cast<int>(threadIdx.x) / Tuning::kSide;
  const int across = static_cast<int>(threadIdx.x) % Tuning::kSide;
  const std::byte* const x_data = shape.x.data + item * shape.x.item_bytes;
  const std::byte* const y_data = shape.y.data + item * shape.y.item_bytes;
  const bool x_along_k = shape.x.col_bytes <= shape.x.row_bytes;
  const bool y_along_k = shape.y.row_bytes < shape.y.col_bytes;
  Staging<A, kOutputs> x, y;
  const auto load_to_registers = [&](std::int64_t k) {
    x.load_to_registers(
        x_data, shape.x.type, k, shape.k, row, shape.m, x_along_k,
        [&](std::int64_t at, std::int64_t i) { return i * shape.x.row_bytes + at * shape.x.col_bytes; });
    const auto y_offset = [&](std::int64_t at, std::int64_t j) {
      return shape.y_row_bytes(at) + j * shape.y.col_bytes;
    };
    y.load_to_registers(y_data, shape.y.type, k, shape.k, col, shape.n, y_along_k, y_offset);
  };
  A sums[kOutputs * kOutputs] = {};
  load_to_registers(0);
  int buffer = 0;
  for (std::int64_t k = 0; k < shape.k; k += Tuning::kDepth, buffer ^= 1) {
    x.store_to_shared(tiles[buffer].x, x_along_k);
    y.store_to_shared(tiles[buffer].y, y_along_k);
    __syncthreads();  // after this, all threads have finished reading the other pair
    const std::int64_t left = shape.k - k;
    if (left > Tuning::kDepth) load_to_registers(k + Tuning::kDepth);
    if (left >= Tuning::kDepth) {
#pragma unroll
      for (int i = 0; i < Tuning::kDepth; ++i) multiply(tiles[buffer], i, down, across, sums);
    } else {  // exactly `left` steps: adding 0 would change -0 to 0
#pragma unroll 1
      for (int i = 0; i < static_cast<int>(left); ++i) multiply(tiles[buffer], i, down, across, sums);
    }
  }
  __syncthreads();  // before the next tile of the result

  store.finish(sums);
  device::visit(store.to.type, [&]<class T>(T) {
#pragma unroll
    for (int i = 0; i < kOutputs; ++i) {
      const std::int64_t out_row = row + tile_index<A, kOutputs>(down, i);
      std::byte* const to = store.to.data + out_row * shape.out.row_bytes + item * shape.out.item_bytes;
#pragma unroll
      for (int j = 0; j < kOutputs; ++j) {
        const std::int64_t out_col = col + tile_index<A, kOutputs>(across, j);
        if (out_row < shape.m && out_col < shape.n)
          *reinterpret_cast<T*>(to + out_col * shape.out.col_bytes) =
              device::to_pixel<T>(sums[i * kOutputs + j]);
      }
    }
  });
}

template <class A, int kOutputs>
__global__ void __launch_bounds__(ExactTuning<A, kOutputs>::kThreads)
    multiply_tiles(const __grid_constant__ ExactShape shape, const __grid_constant__ device::Store<A> store) {
  constexpr std::int64_t kTile = ExactTuning<A, kOutputs>::kTile;
  __shared__ Tiles<A, kOutputs> tiles[2];
  for (std::int64_t item = blockIdx.z; item < shape.items; item += gridDim.z) {
    for (std::int64_t row = blockIdx.y * kTile; row < shape.m; row += gridDim.y * kTile)
      compute_tile(shape, store, tiles, row, blockIdx.x * kTile, item);
  }
}

template <class A, int kOutputs>
void launch(const ExactShape& shape, const device::Store<A>& store, DeviceStream stream) {
  using Tuning = ExactTuning<A, kOutputs>;
  const auto side = [](std::int64_t count) {
    return static_cast<unsigned>(std::min<std::int64_t>(count, Tuning::kMaxGridSide));
  };
  const dim3 grid(static_cast<unsigned>(ceil_div(shape.n, Tuning::kTile)),
                  side(ceil_div(shape.m, Tuning::kTile)), side(shape.items));
  multiply_tiles<A, kOutputs><<<grid, Tuning::kThreads, 0, stream>>>(shape, store);
}

}  // namespace

void exact_gemm(const ExactOperand& x, const ExactOperand& y, const PixelView& out, Arithmetic arithmetic,
                DeviceStream stream, std::span<const PointwiseOp> fused_ops) {
  const ExactShape shape = exact_shape(x, y, out);
  if (out.extent.empty()) return;
  visit_arithmetic(arithmetic, [&]<class A>(std::type_identity<A>) {
    constexpr std::int64_t kTile = ExactTuning<A, kManyOutputs<A>>::kTile;
    const device::Store<A> store(out, fused_ops);
    if (ceil_div(shape.n, kTile) * ceil_div(shape.m, kTile) * shape.items <= kFewBlocks)
      return launch<A, kFewOutputs<A>>(shape, store, stream);
    launch<A, kManyOutputs<A>>(shape, store, stream);
  });
  check_cuda(cudaGetLastError(), "launching a product of matrices");
}

}  // namespace sepconv::engine
