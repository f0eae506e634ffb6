// Reductions of pixels to statistics: how often values occur, and moments of cells. On the CPU and on a GPU
// with the same bits.
#pragma once

#include <cstdint>
#include <limits>

#include "core/image.hpp"
#include "kernels/cuda/runtime.hpp"

#ifdef __CUDACC__
#define SEPCONV_HOST_DEVICE __host__ __device__
#else
#define SEPCONV_HOST_DEVICE
#endif

namespace sepconv {

/// Bins of a histogram of floating values.
inline constexpr int kBins = 256;

/// Count, range, and sums of distances: from `about`, which is next to the mean, and of squared ones from the
/// mean itself, so that both are exact far from 0, too. A least or greatest value of zero is +0, whatever the
/// signs of the zeros. Not-a-numbers are counted and left out of everything else. An infinity makes the mean
/// infinite and the squares not-a-number.
struct Moments {
  std::int64_t count = 0, nan_count = 0;
  double min = std::numeric_limits<double>::infinity(), max = -std::numeric_limits<double>::infinity();
  double about = 0, sum = 0, squares = 0;

  double mean() const { return about + sum / static_cast<double>(count); }
  /// For this many values, given the mean as it is rounded, and the sums of distances from that and of their
  /// squares.
  SEPCONV_HOST_DEVICE void set_sums(double rounded_mean, double distances, double squared_distances) {
    about = rounded_mean;
    sum = distances == distances ? distances : 0;  // not a number: the mean is infinite
    squares = squared_distances - distances * (distances / static_cast<double>(count));
  }
  /// Adds up as in Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing sample
  /// variances" (1979).
  void add(const Moments& other);
};

/// The sums of a cell are defined as those of this many lanes: column c of the cell belongs to lane c %
/// kMomentLanes, which takes its values row by row; then, with half as many lanes each time, lane i joins
/// lane i + half. So threads of a GPU and vectors of a CPU add in the same order.
inline constexpr int kMomentLanes = 128;

/// Moments of one channel of a cell of f32 or f64. Two passes, the mean first, so that nothing cancels in the
/// squares; a cell therefore better fits a cache.
Moments cell_moments(const ConstPixelView& cell, std::int64_t channel);

/// The same on a GPU for all channels of all cells of `in`, a grid of cells of `cell` pixels that is cut off
/// at the right and lower edge: moments[index * channels + channel], cells row-major. Both in device memory;
/// enqueues on `stream` and returns. Throws InvalidArgument for integers, and CudaError.
void cell_moments_cuda(const ConstPixelView& in, Extent cell, Moments* moments, DeviceStream stream);

/// kBins bins of equal width over [low, high], both finite.
struct BinScale {
  double low = 0, high = 0;

  /// -1 for values outside, which are infinities, and for not-a-numbers.
  SEPCONV_HOST_DEVICE int bin(double value) const {
    if (!(value >= low && value <= high)) return -1;
    // Halves, because the range of f64 values may itself be beyond f64.
    const double part = (value / 2 - low / 2) / (high / 2 - low / 2);
    if (!(part >= 0)) return 0;  // 0 / 0: all values are one, or next to it
    const int index = static_cast<int>(part * kBins);
    return index < kBins ? index : kBins - 1;
  }
};

/// Different values of an integer type.
constexpr std::int64_t value_count(PixelType type) noexcept { return std::int64_t{1} << (8 * size_of(type)); }

/// Adds to counts[channel * value_count + value - least value] how often each value occurs in `in`, of
/// integers. Both in device memory; enqueues on `stream` and returns. Several streams may add to the same
/// counts. Throws InvalidArgument for floating types, and CudaError.
void count_values_cuda(const ConstPixelView& in, std::int64_t* counts, DeviceStream stream);

/// Likewise to counts[channel * kBins + bin], for f32 and f64. `scales`, one per channel, is in device
/// memory, too.
void count_bins_cuda(const ConstPixelView& in, const BinScale* scales, std::int64_t* counts,
                     DeviceStream stream);

}  // namespace sepconv
