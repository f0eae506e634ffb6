// Correlation of a region with any kernel of two dimensions. Shapes, borders and stores are those of conv.hpp.
#pragma once

#include <cstdint>
#include <vector>

#include "core/image.hpp"
#include "core/worker.hpp"
#include "kernels/conv/border.hpp"

namespace sepconv {

/// A weight of the pixel (row + dy, col + dx).
struct KernelTap {
  std::int64_t dy, dx;
  double weight;
  friend bool operator==(const KernelTap&, const KernelTap&) = default;
};

/// The taps in the order of their products.
struct Kernel2d {
  std::vector<KernelTap> taps;
  std::int64_t radius_x = 0, radius_y = 0;  ///< at least the largest |dx| and |dy|

  /// Does to a transposed image exactly what this does to the image.
  Kernel2d transposed() const;
};

/// For each element: acc = +0; for the taps in their order: acc = fma(weight, x[dy, dx], acc). Weights are
/// rounded once to `arithmetic`. A constant border is a pixel of that value. As in convolve_reference(), the
/// reference supports BorderMode::wrap if `in` is the whole image, and correlate_host() if the image contains
/// the wrapped pixels. Throws InvalidArgument.
void correlate_reference(const Kernel2d& kernel, const Border& border, const ConstRegion& in,
                         const Region& out, Arithmetic arithmetic);
/// Same bits. Scratch comes from `worker` and is released on return. Throws Cancelled when it is stopped.
void correlate_host(const Kernel2d& kernel, const Border& border, const ConstRegion& in, const Region& out,
                    Arithmetic arithmetic, Worker& worker);

/// Upper bound of correlate_host's arena bytes for outputs of up to `cols` columns.
std::int64_t correlate_scratch_bytes(const Kernel2d& kernel, std::int64_t cols, std::int64_t channels,
                                     Arithmetic arithmetic);

}  // namespace sepconv
