// Filters of valid pixels: weighted sums without the missing pixels, which are NaN, over their weights.
// Private to pipeline/stages.
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

/// As FilterStage has them; what is missing stays so unless `fills`.
struct NormalizedConvolution {
  const std::vector<SeparableTaps>& branches;
  const Border& border;
  const PointwiseOp& join;  ///< copy: none
  bool fills;
};

/// Whether the sum of all taps is more than next to nothing, as a derivative's is: then the weights of what
/// is there stand for all of them.
bool can_renormalise(const std::vector<SeparableTaps>& branches);
/// Averages ignore what is missing, differences propagate it.
MissingPolicy default_policy(const std::vector<SeparableTaps>& branches);

/// For each branch num = the convolution with 0 for what is missing, den = that of 1 for valid pixels and 0
/// for what is not, and the result is num where den is `total`, which is den of a window with nothing
/// missing, num * (total / den) where den is positive, and missing elsewhere. Beyond a constant border all is
/// there. `in` is all that `out` needs, or the whole image. The same bits from all three.
void normalized_convolution_reference(const NormalizedConvolution& filter, const ConstRegion& in,
                                      const Region& out, Arithmetic arithmetic);
void normalized_convolution(const NormalizedConvolution& filter, const ConstRegion& in, const Region& out,
                            Arithmetic arithmetic, Worker& worker);
void enqueue_normalized_convolution(const NormalizedConvolution& filter, const ConstRegion& in,
                                    const Region& out, Arithmetic arithmetic, Arena& arena,
                                    DeviceStream stream, std::span<const PointwiseOp> epilogue_ops);

/// Whether normalized_convolution is normalized_conv_host for each branch, and its scratch then.
bool all_support_normalized_conv(const std::vector<SeparableTaps>& branches);
std::int64_t normalized_conv_bytes(const std::vector<SeparableTaps>& branches, bool joined, Extent output,
                                   std::int64_t channels, Arithmetic arithmetic, Extent image);

/// Else, and on a device, scratch beyond a convolution's own, for so much of the input and of the result.
std::int64_t normalized_convolution_bytes(std::size_t branches, Scratch scratch, Extent needed, Extent output,
                                          std::int64_t channels, Arithmetic arithmetic);

/// The same for means: num, den and total are resampled, the latter of 1 everywhere, because a window's
/// weights are its own; num where den is total, num / (den / total) where that is positive, and missing
/// elsewhere. Filters with negative weights (cubic, lanczos3) are those of linear where den is not total, so
/// that no result leaves the range of the values under its window. The result is valid pixels: no pixel of
/// it stands for one of the input. Of the channel `alpha`, which says how much is there, it is num.
void normalized_resample_reference(const Resampling& resampling, std::optional<std::int64_t> alpha,
                                   const ConstRegion& in, const Region& out, Arithmetic arithmetic);
void normalized_resample(const Resampling& resampling, std::optional<std::int64_t> alpha,
                         const ConstRegion& in, const Region& out, Arithmetic arithmetic, Worker& worker);
void enqueue_normalized_resample(const Resampling& resampling, std::optional<std::int64_t> alpha,
                                 const ConstRegion& in, const Region& out, Arithmetic arithmetic,
                                 Arena& arena, DeviceStream stream,
                                 std::span<const PointwiseOp> epilogue_ops);

/// All scratch of the latter two, for outputs up to this extent.
std::int64_t normalized_resample_bytes(const Resampling& resampling, Scratch scratch, Extent output,
                                       std::int64_t channels, Arithmetic arithmetic);

}  // namespace sepconv
