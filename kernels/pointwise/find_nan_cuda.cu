// Tests whether pixels on the device contain NaN: memory-bound; the result is written to host memory without
// a copy.
#include <cuda_runtime.h>

#include <algorithm>

#include "kernels/cuda/device_pixel.cuh"
#include "kernels/device/runtime.hpp"
#include "kernels/pointwise/missing.hpp"

namespace sepconv::engine {
namespace {

constexpr int kThreads = 256;
constexpr std::int64_t kRowsPerThread = 8;  // whose loads are in flight simultaneously
constexpr std::int64_t kMaxGridRows = 65535;

/// A thread tests one element of every gridDim.y-th row.
template <class T>
__global__ void __launch_bounds__(kThreads)
    find_nan_kernel(const device::Rows in, std::int64_t rows, std::int64_t elements, std::int32_t* found) {
  const std::int64_t element = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  bool any = false;
  if (element < elements) {
#pragma unroll 8
    for (std::int64_t row = blockIdx.y; row < rows; row += gridDim.y) {
      const T value = in.row<const T>(row)[element];
      any |= value != value;
    }
  }
  if (__syncthreads_or(any) != 0 && threadIdx.x == 0) *found = 1;
}

}  // namespace

void find_nan(const ConstPixelView& in, std::int32_t* found, DeviceStream stream) {
  void* on_device = nullptr;
  check_cuda(cudaHostGetDevicePointer(&on_device, found, 0),
             "querying the device address of page-locked "
             "memory");
  const std::int64_t elements = in.row_elements(), rows = in.extent.rows;
  const dim3 blocks(static_cast<unsigned>(ceil_div(elements, std::int64_t{kThreads})),
                    static_cast<unsigned>(std::min(ceil_div(rows, kRowsPerThread), kMaxGridRows)));
  const auto kernel = in.type == PixelType::f32 ? find_nan_kernel<float> : find_nan_kernel<double>;
  kernel<<<blocks, kThreads, 0, stream>>>(device::Rows(in), rows, elements,
                                          static_cast<std::int32_t*>(on_device));
  check_cuda(cudaGetLastError(), "searching for NaN");
}

}  // namespace sepconv::engine
