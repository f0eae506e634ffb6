// Normalized filters of valid pixels: weighted sums that exclude missing pixels (NaN), divided by their
// weights. Private to pipeline/stages.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kernels/conv/conv.hpp"
#include "kernels/resample/resample.hpp"
#include "pipeline/chain/stage.hpp"
#include "pipeline/stages/nodata_policy.hpp"

namespace sepconv {

/// Missing pixels stay missing unless `fills`.
struct NormalizedConvolution {
  const SeparableTaps& taps;
  const Border& border;
  bool fills;
};

/// Whether the sum of the taps is clearly positive, unlike that of a derivative. Only then can the weights of
/// valid pixels be renormalised.
bool can_renormalise(const std::vector<double>& taps);
/// The default policy: averages ignore missing pixels, differences propagate them.
MissingPolicy default_policy(const std::vector<SeparableTaps>& filters);

/// num is the convolution with 0 for missing pixels, and den that of weights, 1 for valid
/// and 0 for missing pixels. `total` is den of a window without missing pixels. The result is num if den is
/// `total`, num * (total / den) if den is positive, otherwise missing. A constant border counts as valid.
/// `in` is all that `out` needs, or the whole image. All three functions give the same bits.
void normalized_convolution_reference(const NormalizedConvolution& filter, const ConstRegion& in,
                                      const Region& out, Arithmetic arithmetic);
void normalized_convolution(const NormalizedConvolution& filter, const ConstRegion& in, const Region& out,
                            Arithmetic arithmetic, Worker& worker);
void enqueue_normalized_convolution(const NormalizedConvolution& filter, const ConstRegion& in,
                                    const Region& out, Arithmetic arithmetic, Arena& arena,
                                    DeviceStream stream, std::span<const PointwiseOp> epilogue_ops);

/// Scratch bytes in addition to those of a convolution. `needed` and `output` are extents of the input and of the result.
std::int64_t normalized_convolution_bytes(Scratch scratch, Extent needed, Extent output,
                                          std::int64_t channels, Arithmetic arithmetic);

/// Normalized resampling. num, den and total are resampled; total is that of 1 everywhere, because each
/// window has different weights. The result is num if den is total, num / (den / total) if that is positive,
/// otherwise missing. Filters with negative weights (cubic, lanczos3) use linear where den is not total, so
/// no result leaves the range of the values in its window. The result only contains valid pixels: no result
/// pixel corresponds to one input pixel. For channel `alpha`, the coverage, the result is num.
void normalized_resample_reference(const Resampling& resampling, std::optional<std::int64_t> alpha,
                                   const ConstRegion& in, const Region& out, Arithmetic arithmetic);
void normalized_resample(const Resampling& resampling, std::optional<std::int64_t> alpha,
                         const ConstRegion& in, const Region& out, Arithmetic arithmetic, Worker& worker);
void enqueue_normalized_resample(const Resampling& resampling, std::optional<std::int64_t> alpha,
                                 const ConstRegion& in, const Region& out, Arithmetic arithmetic,
                                 Arena& arena, DeviceStream stream,
                                 std::span<const PointwiseOp> epilogue_ops);

/// Total scratch bytes of the last two functions for outputs up to this extent.
std::int64_t normalized_resample_bytes(const Resampling& resampling, Scratch scratch, Extent output,
                                       std::int64_t channels, Arithmetic arithmetic);

}  // namespace sepconv
