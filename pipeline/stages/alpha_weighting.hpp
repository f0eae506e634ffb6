// Chains for images with alpha: alpha is the weight of the colours of its pixel.
#pragma once

#include "pipeline/chain/chain.hpp"

namespace sepconv {

/// The chain with weighting by alpha. Stages that average get colours premultiplied by alpha, and alpha
/// unchanged. Other stages get straight colours, NaN where alpha is 0, and keep alpha. A result pixel whose
/// alpha is stored as 0 in type `result` is 0 in all channels. Colours that are premultiplied in the source
/// and only averaged stay premultiplied.
Chain weight_by_alpha(const Chain& chain, const AlphaWeight& weight, PixelType result);
/// The same for a chain within a stage: it begins and ends with straight colours; colours and alpha are NaN
/// where alpha is 0.
Chain weight_by_alpha_within(const Chain& chain, const AlphaWeight& weight);

/// Appends a stage that rescales alpha if `stage` gives it another range (StageProperties::opaque). `opaque` is
/// the alpha of an opaque pixel before; returns the one after.
double append_alpha_rescale(Chain& chain, const Stage& stage, std::int64_t alpha, double opaque);

/// The first stage that averages, or combines its input with averages, and fixes the handling of missing
/// pixels; null if no stage does.
const Stage* stage_with_fixed_means(const Chain& chain);

}  // namespace sepconv
