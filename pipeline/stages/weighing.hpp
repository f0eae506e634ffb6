// Chains of pictures: alpha is the weight of its pixel's colours.
#pragma once

#include "pipeline/chain/chain.hpp"

namespace sepconv {

/// The chain that does so. Stages of weighted means take colours multiplied by alpha, and alpha as it is; all
/// others colours alone, which are NaN where alpha is 0, and leave alpha as it was. A pixel of the result
/// whose alpha is stored as 0, as `result`, is 0 in all channels; colours that are multiplied in the source
/// and go through means alone are what these make of them.
Chain weight_by_alpha(const Chain& chain, const AlphaWeight& weight, PixelType result);
/// Likewise of a chain that begins and ends with colours that are NaN, as alpha is, where alpha is 0.
Chain weight_by_alpha_within(const Chain& chain, const AlphaWeight& weight);

/// Behind a stage that gives alpha another range (StageTraits::opaque) alpha is brought to that. Takes and
/// returns the alpha of a pixel that hides nothing, before and behind.
double then_rescaled_alpha(Chain& chain, const Stage& stage, std::int64_t alpha, double opaque);

/// The first stage that makes means, or joins its input with some, and says itself what becomes of missing
/// pixels; null if there is none.
const Stage* settles_means(const Chain& chain);

}  // namespace sepconv
