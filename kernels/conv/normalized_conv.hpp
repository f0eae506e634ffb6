// Convolution of valid pixels: where pixels are missing, by the weights of those that are not.
#pragma once

#include <optional>

#include "kernels/conv/conv.hpp"

namespace sepconv {

/// Which pixels of a source are missing, and what becomes of them.
struct MissingPolicyOf {
  std::optional<double> value{};       ///< those of this value, rounded to the arithmetic type, and those NaN
  bool fills = false;                  ///< a missing pixel gets the average of what is near; else it stays so
  std::optional<PointwiseOp> store{};  ///< store_missing, of the result's type, that ends it
};

/// Whether normalized_conv_host takes such a filter: both passes, rows first.
bool supports_normalized_conv(const SeparableTaps& taps);

/// num and den are the convolutions, as conv.hpp has them, of valid pixels, with 0 for what is missing, and
/// of 1 and 0 for valid pixels and what is not, beyond a constant border 1. The result is num where den is
/// what it is with nothing missing, num * (total / den) where den is positive, and NaN elsewhere, where the
/// pixel is missing and not filled, and where num is; then `store`. Without a missing pixel under a block of
/// rows and columns that is the plain convolution, and takes its time. With `store` to an integer type no
/// value may become NaN otherwise. Arguments and scratch as for convolve_host.
void normalized_conv_host(const SeparableTaps& taps, const Border& border, const MissingPolicyOf& missing,
                          const ConstRegion& in, const Region& out, Arithmetic arithmetic, Worker& worker);

/// Upper bound of its arena bytes for outputs up to this extent in images up to `image`.
std::int64_t normalized_conv_scratch_bytes(const SeparableTaps& taps, Extent out, std::int64_t channels,
                                           Arithmetic arithmetic, Extent image = {kMaxSide, kMaxSide});

}  // namespace sepconv
