// Normalized convolution: missing pixels are excluded and the weights of the valid ones are renormalised.
#pragma once

#include <optional>

#include "kernels/conv/conv.hpp"

namespace sepconv {

/// Which pixels of a source are missing, and how the result treats them.
struct NormalizedMissing {
  std::optional<double> value{};       ///< missing if equal to it (in the arithmetic type); NaN always is
  bool fills = false;                  ///< fill missing pixels from their neighbours; else they stay missing
  std::optional<PointwiseOp> store{};  ///< a final store_missing for the result's type
};

/// Whether normalized_conv_host supports the filter: both passes, rows first.
bool supports_normalized_conv(const SeparableTaps& taps);

/// num is the convolution (conv.hpp) of the pixels with 0 for missing ones. den is the convolution of the
/// weights: 1 for valid pixels and constant borders, 0 for missing pixels. total is den with nothing missing.
/// The result is num where den == total, num * (total / den) where den > 0, and NaN elsewhere. It is also NaN
/// where num is NaN and where a pixel is missing and not filled. Then `store` is applied. Blocks of rows and
/// columns without a missing pixel run at the speed of the plain convolution. With `store` to an integer type
/// no value may become NaN otherwise. Arguments and scratch as for convolve_host.
void normalized_conv_host(const SeparableTaps& taps, const Border& border, const NormalizedMissing& missing,
                          const ConstRegion& in, const Region& out, Arithmetic arithmetic, Worker& worker);

/// Upper bound of the arena bytes for outputs up to extent `out` in images up to `image`.
std::int64_t normalized_conv_scratch_bytes(const SeparableTaps& taps, Extent out, std::int64_t channels,
                                           Arithmetic arithmetic, Extent image = {kMaxSide, kMaxSide});

}  // namespace sepconv
