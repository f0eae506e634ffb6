#include <cuda_runtime.h>

#include <algorithm>

#include "kernels/cuda/device_pixel.cuh"
#include "kernels/sliding_window/standard_deviation.hpp"

namespace sepconv::engine {
namespace {

constexpr int kDeviationThreads = 256;
constexpr std::int64_t kMaxGridRows = 65535;

/// The views of WindowMoments.
struct DeviceMoments {
  device::Rows sums, squares, counts, pixels, windows;
};

/// Sums recomputed from the window's pixels. Not inlined, because few threads need it.
__device__ __noinline__ SpreadSums sums_of_pixels(const device::Rows& pixels, const SpreadWindows& windows,
                                                  int channels, std::int64_t row, std::int64_t element) {
  const auto load = [&](std::int64_t at, std::int64_t col) {
    return pixels.load<double>(at, (col - windows.in.rect.col) * channels + element % channels);
  };
  return sums_around(windows, windows.out.row + row, windows.out.col + element / channels, load);
}

__global__ void __launch_bounds__(kDeviationThreads)
    deviate(const __grid_constant__ WindowMoments moments, const __grid_constant__ DeviceMoments views,
            const device::Rows out, Extent extent, int channels) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kDeviationThreads + threadIdx.x;
  if (i >= extent.cols * channels) return;
  for (std::int64_t row = blockIdx.y; row < extent.rows; row += gridDim.y) {
    SpreadSums sums;
    sums.count = views.counts.data != nullptr ? views.counts.row<const double>(row)[i] : moments.count;
    sums.sum = views.sums.row<const double>(row)[i], sums.squares = views.squares.row<const double>(row)[i];
    double spread = spread_of(sums);
    if (views.windows.data != nullptr && !is_precise(sums, spread)) {
      sums = sums_of_pixels(views.windows, moments.windows, channels, row, i);
      spread = spread_of(sums);
    }
    double value = deviation_of(sums, spread);
    if (views.pixels.data != nullptr)
      value = contrast_of(sums, views.pixels.load<double>(row, i), value, moments.least);
    out.store(row, i, value);
  }
}

}  // namespace

void deviation(const WindowMoments& moments, const PixelView& out, DeviceStream stream) {
  const std::int64_t elements = out.row_elements();
  const dim3 grid(static_cast<unsigned>(ceil_div(elements, kDeviationThreads)),
                  static_cast<unsigned>(std::min(out.extent.rows, kMaxGridRows)));
  const DeviceMoments views{device::Rows(moments.sums), device::Rows(moments.squares),
                            device::Rows(moments.counts), device::Rows(moments.pixels),
                            device::Rows(moments.windows.in.pixels)};
  deviate<<<grid, kDeviationThreads, 0, stream>>>(moments, views, device::Rows(out), out.extent,
                                                  static_cast<int>(out.channels));
  check_cuda(cudaGetLastError(), "launching deviations");
}

}  // namespace sepconv::engine
