#include <cuda_runtime.h>

#include "kernels/device/copy_rows_by_kernel.hpp"

namespace sepconv::engine {
namespace {

// Measured on an H200 during an upload of whole rows: 4 to 8 blocks stored 40 GB/s in rows of 2 KiB and 46
// GB/s in rows of 16 KiB, 16 blocks 36 GB/s; the bus transfers 50.8 GB/s in each direction.
constexpr unsigned kBlocks = 8;
constexpr unsigned kThreads = 256;
constexpr int kInFlight = 4;  // loads of a thread in flight simultaneously

using Piece = uint4;
constexpr std::int64_t kPieceBytes = sizeof(Piece);

/// A matrix of pieces; the pitch is in pieces, too.
template <class T>
struct Rows {
  T* data;
  std::int64_t pitch;
  __device__ T& at(std::int64_t index, std::int64_t row_pieces) const {
    const std::int64_t row = index / row_pieces;
    return data[row * pitch + (index - row * row_pieces)];
  }
};

__global__ void __launch_bounds__(kThreads)
    copy_pieces(Rows<Piece> to, Rows<const Piece> from, std::int64_t row_pieces, std::int64_t count) {
  const std::int64_t stride = std::int64_t{gridDim.x} * kThreads;
  for (std::int64_t first = std::int64_t{blockIdx.x} * kThreads + threadIdx.x; first < count;
       first += stride * kInFlight) {
    Piece pieces[kInFlight];
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      if (first + i * stride < count) pieces[i] = __ldcs(&from.at(first + i * stride, row_pieces));
    }
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      if (first + i * stride < count) to.at(first + i * stride, row_pieces) = pieces[i];
    }
  }
}

bool is_multiple(std::int64_t bytes) { return bytes % kPieceBytes == 0; }
bool is_aligned(const void* address) { return reinterpret_cast<std::uintptr_t>(address) % kPieceBytes == 0; }

bool can_use_host_pointers() {
  int supported = 0;
  check_cuda(
      cudaDeviceGetAttribute(&supported, cudaDevAttrCanUseHostPointerForRegisteredMem, current_device()),
      "querying a device's properties");
  return supported != 0;
}

}  // namespace

void copy_rows_by_kernel(void* to, std::int64_t to_pitch_bytes, const void* from,
                         std::int64_t from_pitch_bytes, std::int64_t row_bytes, std::int64_t rows,
                         DeviceStream stream) {
  const bool in_pieces = is_aligned(to) && is_aligned(from) && is_multiple(row_bytes) &&
                         (rows == 1 || (is_multiple(to_pitch_bytes) && is_multiple(from_pitch_bytes)));
  if (!in_pieces || !can_use_host_pointers()) {
    return copy_rows(to, to_pitch_bytes, from, from_pitch_bytes, row_bytes, rows, stream);
  }
  const std::int64_t row_pieces = row_bytes / kPieceBytes;
  copy_pieces<<<kBlocks, kThreads, 0, stream>>>(
      {static_cast<Piece*>(to), to_pitch_bytes / kPieceBytes},
      {static_cast<const Piece*>(from), from_pitch_bytes / kPieceBytes}, row_pieces, row_pieces * rows);
  check_cuda(cudaGetLastError(), "copying rows by a kernel");
}

}  // namespace sepconv::engine
