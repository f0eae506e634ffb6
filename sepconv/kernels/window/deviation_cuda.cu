#include <cuda_runtime.h>

#include <algorithm>

#include "sepconv/kernels/cuda/device_pixel.cuh"
#include "sepconv/kernels/window/deviation.hpp"

namespace sepconv::engine {
namespace {

constexpr int kDeviationThreads = 256;
constexpr std::int64_t kMostGridRows = 65535;

__global__ void __launch_bounds__(kDeviationThreads)
    deviate(const device::Rows means, const device::Rows squares, const device::Rows pixels, double least,
            const device::Rows out, Extent extent, std::int64_t elements) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kDeviationThreads + threadIdx.x;
  if (i >= elements) return;
  for (std::int64_t row = blockIdx.y; row < extent.rows; row += gridDim.y) {
    const double mean = means.row<const double>(row)[i];
    const double variance = device::fused_multiply_add(-mean, mean, squares.row<const double>(row)[i]);
    double value = variance <= 0 ? 0 : device::square_root(variance);
    if (pixels.data != nullptr && value == value) {
      const double pixel = pixels.load<double>(row, i);
      const double measure = value > least ? value : least;
      value = measure > 0 || pixel != pixel ? __ddiv_rn(pixel - mean, measure) : 0;
    }
    out.store(row, i, value);
  }
}

}  // namespace

void deviation(const WindowMoments& moments, const PixelView& out, DeviceStream stream) {
  const std::int64_t elements = out.row_elements();
  const dim3 grid(static_cast<unsigned>(ceil_div(elements, kDeviationThreads)),
                  static_cast<unsigned>(std::min(out.extent.rows, kMostGridRows)));
  deviate<<<grid, kDeviationThreads, 0, stream>>>(device::Rows(moments.means), device::Rows(moments.squares),
                                                  device::Rows(moments.pixels), moments.least,
                                                  device::Rows(out), out.extent, elements);
  check_cuda(cudaGetLastError(), "launching deviations");
}

}  // namespace sepconv::engine
