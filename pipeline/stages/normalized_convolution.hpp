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

/// Members as in FilterStage. Missing pixels stay missing unless `fills`.
struct NormalizedConvolution {
  const std::vector<SeparableTaps>& branches;
  const Border& border;
  const PointwiseOp& join;  ///< copy: no join
  bool fills;
};

/// Whether the sum of the taps is clearly positive, unlike that of a derivative. Only then can the weights of
/// valid pixels be renormalised.
bool can_renormalise(const std::vector<SeparableTaps>& branches);
/// The default policy: averages ignore missing pixels, differences propagate them.
MissingPolicy default_policy(const std::vector<SeparableTaps>& branches);

/// For each branch, num is the convolution with 0 for missing pixels, and den that of weights, 1 for valid
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

/// Whether normalized_convolution() uses normalized_conv_host() for each branch, and the scratch bytes in
/// that case.
bool all_support_normalized_conv(const std::vector<SeparableTaps>& branches);
std::int64_t normalized_conv_bytes(const std::vector<SeparableTaps>& branches, bool joined, Extent output,
                                   std::int64_t channels, Arithmetic arithmetic, Extent image);

/// Scratch bytes in the other case and on a device, in addition to those of a convolution. `needed` and
/// `output` are extents of the input and of the result.
std::int64_t normalized_convolution_bytes(std::size_t branches, Scratch scratch, Extent needed, Extent output,
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
