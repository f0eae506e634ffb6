// The ladder of matrices. Each rung changes one thing: one thread -> a thread per row -> a thread per element
// -> a tile in shared memory -> no bank conflicts -> several elements a thread.
#include "bench/transpose/ladder.hpp"
#include "bench/transpose/ladder_elements.cuh"

namespace sepconv::transpose_ladders {
namespace {

constexpr int kThreadsAlone = 256;  // of a block where a thread has a row

/// Matrices on the device; distances in elements.
template <class T>
struct Work {
  const T* in;
  T* out;
  std::int64_t in_pitch, in_item, out_pitch, out_item;
  int items, rows, cols;  // of the input
  int row_tiles = 0, col_tiles = 0;

  __device__ __forceinline__ T from(int item, int row, int col) const {
    return in[item * in_item + row * in_pitch + col];
  }
  __device__ __forceinline__ T& to(int item, int row, int col) const {
    return out[item * out_item + row * out_pitch + col];
  }
};

/// A block's place: blocks are numbered along the rows of tiles, so that there may be as many as the x axis
/// of a grid has.
struct Place {
  int item, row, col;  // of the tile's first element

  template <class T>
  __device__ __forceinline__ Place(const Work<T>& work, int side) {
    const int block = static_cast<int>(blockIdx.x);
    col = block % work.col_tiles * side;
    row = block / work.col_tiles % work.row_tiles * side;
    item = block / work.col_tiles / work.row_tiles;
  }
};

template <class T>
__global__ void one_thread(const Work<T> work) {
  for (int item = 0; item < work.items; ++item) {
    for (int row = 0; row < work.rows; ++row) {
      for (int col = 0; col < work.cols; ++col) work.to(item, col, row) = work.from(item, row, col);
    }
  }
}

template <class T>
__global__ void __launch_bounds__(kThreadsAlone) thread_a_row(const Work<T> work) {
  const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * kThreadsAlone + threadIdx.x;
  const int item = static_cast<int>(index / work.rows), row = static_cast<int>(index % work.rows);
  if (item >= work.items) return;
  for (int col = 0; col < work.cols; ++col) work.to(item, col, row) = work.from(item, row, col);
}

template <class T, int kSide>
__global__ void __launch_bounds__(kSide* kSide) thread_an_element(const Work<T> work) {
  const Place tile(work, kSide);
  const int row = tile.row + static_cast<int>(threadIdx.y), col = tile.col + static_cast<int>(threadIdx.x);
  if (row < work.rows && col < work.cols) work.to(tile.item, col, row) = work.from(tile.item, row, col);
}

template <class T, int kSide, int kThreadRows>
__global__ void __launch_bounds__(kSide* kThreadRows) copy_tile(const Work<T> work) {
  const Place tile(work, kSide);
  const int col = tile.col + static_cast<int>(threadIdx.x);
#pragma unroll
  for (int step = 0; step < kSide; step += kThreadRows) {
    const int row = tile.row + static_cast<int>(threadIdx.y) + step;
    if (row < work.rows && col < work.cols) work.to(tile.item, row, col) = work.from(tile.item, row, col);
  }
}

/// The elements of the input's tile into `shared`; returns when all of them are there.
template <int kSide, int kThreadRows, int kPitch, class T>
__device__ __forceinline__ void load_tile(const Work<T>& work, const Place& tile,
                                          T (&shared)[kSide][kPitch]) {
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
#pragma unroll
  for (int step = 0; step < kSide; step += kThreadRows) {
    const int row = tile.row + y + step, col = tile.col + x;
    if (row < work.rows && col < work.cols) shared[y + step][x] = work.from(tile.item, row, col);
  }
  __syncthreads();
}

template <class T, int kSide, int kThreadRows>
__global__ void __launch_bounds__(kSide* kThreadRows) copy_through_shared(const Work<T> work) {
  __shared__ T shared[kSide][kSide];
  const Place tile(work, kSide);
  load_tile<kSide, kThreadRows, kSide>(work, tile, shared);
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
#pragma unroll
  for (int step = 0; step < kSide; step += kThreadRows) {
    const int row = tile.row + y + step, col = tile.col + x;
    if (row < work.rows && col < work.cols) work.to(tile.item, row, col) = shared[y + step][x];
  }
}

/// Neighbours in a warp read neighbours and write neighbours.
template <class T, int kSide, int kThreadRows, int kPadding>
__global__ void __launch_bounds__(kSide* kThreadRows) transpose_tile(const Work<T> work) {
  __shared__ T shared[kSide][kSide + kPadding];
  const Place tile(work, kSide);
  load_tile<kSide, kThreadRows, kSide + kPadding>(work, tile, shared);
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
#pragma unroll
  for (int step = 0; step < kSide; step += kThreadRows) {
    const int out_row = tile.col + y + step, out_col = tile.row + x;
    if (out_row < work.cols && out_col < work.rows)
      work.to(tile.item, out_row, out_col) = shared[x][y + step];
  }
}

template <class T>
Work<T> work_of(const TransposeShape& shape, ConstMatrices in, Matrices out) {
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
void launch_tiles(void (*kernel)(const Work<T>), Work<T> work, DeviceStream stream) {
  work.row_tiles = tiles_of(work.rows, kSide), work.col_tiles = tiles_of(work.cols, kSide);
  const auto blocks = static_cast<unsigned>(std::int64_t{work.row_tiles} * work.col_tiles * work.items);
  kernel<<<blocks, dim3(kSide, kThreadRows), 0, stream>>>(work);
}

template <class T>
void launch_rung(TransposeRung rung, const Work<T>& work, DeviceStream stream) {
  switch (rung) {
    case TransposeRung::one_thread:
      one_thread<<<1, 1, 0, stream>>>(work);
      return;
    case TransposeRung::thread_a_row: {
      const std::int64_t rows = std::int64_t{work.rows} * work.items;
      thread_a_row<<<static_cast<unsigned>(tiles_of(rows, kThreadsAlone)), kThreadsAlone, 0, stream>>>(work);
      return;
    }
    case TransposeRung::thread_an_element:
      return launch_tiles<32, 32>(thread_an_element<T, 32>, work, stream);
    case TransposeRung::copy:
      return launch_tiles<32, 8>(copy_tile<T, 32, 8>, work, stream);
    case TransposeRung::copy_shared:
      return launch_tiles<32, 8>(copy_through_shared<T, 32, 8>, work, stream);
    case TransposeRung::tiled_32:
      return launch_tiles<32, 32>(transpose_tile<T, 32, 32, 0>, work, stream);
    case TransposeRung::tiled_32_padded:
      return launch_tiles<32, 32>(transpose_tile<T, 32, 32, 1>, work, stream);
    case TransposeRung::tiled_16:
      return launch_tiles<16, 16>(transpose_tile<T, 16, 16, 0>, work, stream);
    case TransposeRung::tiled_16_padded:
      return launch_tiles<16, 16>(transpose_tile<T, 16, 16, 1>, work, stream);
    case TransposeRung::coalesced:
      return launch_tiles<32, 8>(transpose_tile<T, 32, 8, 0>, work, stream);
    case TransposeRung::coalesced_padded:
      return launch_tiles<32, 8>(transpose_tile<T, 32, 8, 1>, work, stream);
    case TransposeRung::tiled_8_padded:
      return launch_tiles<8, 8>(transpose_tile<T, 8, 8, 1>, work, stream);
  }
}

}  // namespace

void launch(TransposeRung rung, const TransposeShape& shape, ConstMatrices in, Matrices out,
            DeviceStream stream) {
  visit_element(shape.element_bytes,
                [&]<class T>(T) { launch_rung(rung, work_of<T>(shape, in, out), stream); });
  check_launch();
}

}  // namespace sepconv::transpose_ladders
