// Matrix transposition. Each variant changes one thing: one thread -> a thread per row -> a thread per
// element -> a tile in shared memory -> no bank conflicts -> several elements per thread.
#include "bench/transpose/variants.hpp"
#include "bench/transpose/visit_element.cuh"

namespace sepconv::transpose_variants {
namespace {

constexpr int kRowThreads = 256;  // per block of thread_per_row

/// Matrices on the device; strides are in elements.
template <class T>
struct TransposeArgs {
  const T* in;
  T* out;
  std::int64_t in_pitch, in_item, out_pitch, out_item;
  int items, rows, cols;  // of the input
  int row_tiles = 0, col_tiles = 0;

  __device__ __forceinline__ T input(int item, int row, int col) const {
    return in[item * in_item + row * in_pitch + col];
  }
  __device__ __forceinline__ T& output(int item, int row, int col) const {
    return out[item * out_item + row * out_pitch + col];
  }
};

/// A block's tile. Blocks are numbered in row-major order along x, the grid's longest axis.
struct TilePosition {
  int item, row, col;  // position of the tile's first element

  template <class T>
  __device__ __forceinline__ TilePosition(const TransposeArgs<T>& args, int side) {
    const int block = static_cast<int>(blockIdx.x);
    col = block % args.col_tiles * side;
    row = block / args.col_tiles % args.row_tiles * side;
    item = block / args.col_tiles / args.row_tiles;
  }
};

template <class T>
__global__ void one_thread(const TransposeArgs<T> args) {
  for (int item = 0; item < args.items; ++item) {
    for (int row = 0; row < args.rows; ++row) {
      for (int col = 0; col < args.cols; ++col) args.output(item, col, row) = args.input(item, row, col);
    }
  }
}

template <class T>
__global__ void __launch_bounds__(kRowThreads) thread_per_row(const TransposeArgs<T> args) {
  const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * kRowThreads + threadIdx.x;
  const int item = static_cast<int>(index / args.rows), row = static_cast<int>(index % args.rows);
  if (item >= args.items) return;
  for (int col = 0; col < args.cols; ++col) args.output(item, col, row) = args.input(item, row, col);
}

template <class T, int kSide>
__global__ void __launch_bounds__(kSide* kSide) thread_per_element(const TransposeArgs<T> args) {
  const TilePosition tile(args, kSide);
  const int row = tile.row + static_cast<int>(threadIdx.y), col = tile.col + static_cast<int>(threadIdx.x);
  if (row < args.rows && col < args.cols) args.output(tile.item, col, row) = args.input(tile.item, row, col);
}

template <class T, int kSide, int kThreadRows>
__global__ void __launch_bounds__(kSide* kThreadRows) copy_tile(const TransposeArgs<T> args) {
  const TilePosition tile(args, kSide);
  const int col = tile.col + static_cast<int>(threadIdx.x);
#pragma unroll
  for (int step = 0; step < kSide; step += kThreadRows) {
    const int row = tile.row + static_cast<int>(threadIdx.y) + step;
    if (row < args.rows && col < args.cols)
      args.output(tile.item, row, col) = args.input(tile.item, row, col);
  }
}

/// Copies the input's tile into `shared`, then waits for all threads of the block.
template <int kSide, int kThreadRows, int kPitch, class T>
__device__ __forceinline__ void load_tile(const TransposeArgs<T>& args, const TilePosition& tile,
                                          T (&shared)[kSide][kPitch]) {
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
#pragma unroll
  for (int step = 0; step < kSide; step += kThreadRows) {
    const int row = tile.row + y + step, col = tile.col + x;
    if (row < args.rows && col < args.cols) shared[y + step][x] = args.input(tile.item, row, col);
  }
  __syncthreads();
}

template <class T, int kSide, int kThreadRows>
__global__ void __launch_bounds__(kSide* kThreadRows) copy_through_shared(const TransposeArgs<T> args) {
  __shared__ T shared[kSide][kSide];
  const TilePosition tile(args, kSide);
  load_tile<kSide, kThreadRows, kSide>(args, tile, shared);
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
#pragma unroll
  for (int step = 0; step < kSide; step += kThreadRows) {
    const int row = tile.row + y + step, col = tile.col + x;
    if (row < args.rows && col < args.cols) args.output(tile.item, row, col) = shared[y + step][x];
  }
}

/// Reads and writes are both coalesced.
template <class T, int kSide, int kThreadRows, int kPadding>
__global__ void __launch_bounds__(kSide* kThreadRows) transpose_tile(const TransposeArgs<T> args) {
  __shared__ T shared[kSide][kSide + kPadding];
  const TilePosition tile(args, kSide);
  load_tile<kSide, kThreadRows, kSide + kPadding>(args, tile, shared);
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
#pragma unroll
  for (int step = 0; step < kSide; step += kThreadRows) {
    const int out_row = tile.col + y + step, out_col = tile.row + x;
    if (out_row < args.cols && out_col < args.rows)
      args.output(tile.item, out_row, out_col) = shared[x][y + step];
  }
}

template <class T>
TransposeArgs<T> make_args(const TransposeShape& shape, ConstMatrices in, Matrices out) {
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(T));
  return {.in = reinterpret_cast<const T*>(in.data),
          .out = reinterpret_cast<T*>(out.data),
          .in_pitch = in.pitch_bytes / kBytes,
          .in_item = in.item_bytes / kBytes,
          .out_pitch = out.pitch_bytes / kBytes,
          .out_item = out.item_bytes / kBytes,
          .items = static_cast<int>(shape.items),
          .rows = static_cast<int>(shape.rows),
          .cols = static_cast<int>(shape.cols)};
}

/// A block of kSide x kThreadRows threads for every tile of kSide x kSide elements.
template <int kSide, int kThreadRows, class T>
void launch_tiles(void (*kernel)(const TransposeArgs<T>), TransposeArgs<T> args, DeviceStream stream) {
  args.row_tiles = tiles_of(args.rows, kSide), args.col_tiles = tiles_of(args.cols, kSide);
  const auto blocks = static_cast<unsigned>(std::int64_t{args.row_tiles} * args.col_tiles * args.items);
  kernel<<<blocks, dim3(kSide, kThreadRows), 0, stream>>>(args);
}

template <class T>
void launch_variant(TransposeVariant variant, const TransposeArgs<T>& args, DeviceStream stream) {
  switch (variant) {
    case TransposeVariant::one_thread:
      one_thread<<<1, 1, 0, stream>>>(args);
      return;
    case TransposeVariant::thread_per_row: {
      const std::int64_t rows = std::int64_t{args.rows} * args.items;
      thread_per_row<<<static_cast<unsigned>(tiles_of(rows, kRowThreads)), kRowThreads, 0, stream>>>(args);
      return;
    }
    case TransposeVariant::thread_per_element:
      return launch_tiles<32, 32>(thread_per_element<T, 32>, args, stream);
    case TransposeVariant::copy:
      return launch_tiles<32, 8>(copy_tile<T, 32, 8>, args, stream);
    case TransposeVariant::copy_shared:
      return launch_tiles<32, 8>(copy_through_shared<T, 32, 8>, args, stream);
    case TransposeVariant::tiled_32:
      return launch_tiles<32, 32>(transpose_tile<T, 32, 32, 0>, args, stream);
    case TransposeVariant::tiled_32_padded:
      return launch_tiles<32, 32>(transpose_tile<T, 32, 32, 1>, args, stream);
    case TransposeVariant::tiled_16:
      return launch_tiles<16, 16>(transpose_tile<T, 16, 16, 0>, args, stream);
    case TransposeVariant::tiled_16_padded:
      return launch_tiles<16, 16>(transpose_tile<T, 16, 16, 1>, args, stream);
    case TransposeVariant::coalesced:
      return launch_tiles<32, 8>(transpose_tile<T, 32, 8, 0>, args, stream);
    case TransposeVariant::coalesced_padded:
      return launch_tiles<32, 8>(transpose_tile<T, 32, 8, 1>, args, stream);
    case TransposeVariant::tiled_8_padded:
      return launch_tiles<8, 8>(transpose_tile<T, 8, 8, 1>, args, stream);
  }
}

}  // namespace

void launch(TransposeVariant variant, const TransposeShape& shape, ConstMatrices in, Matrices out,
            DeviceStream stream) {
  visit_element(shape.element_bytes,
                [&]<class T>(T) { launch_variant(variant, make_args<T>(shape, in, out), stream); });
  check_launch();
}

}  // namespace sepconv::transpose_variants
