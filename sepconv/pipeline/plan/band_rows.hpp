// Which part of the source a band holds, and what of it the band before holds already. Pure arithmetic, for
// every streaming runner.
#pragma once

#include "sepconv/core/memory.hpp"
#include "sepconv/pipeline/plan/plan.hpp"

namespace sepconv {

/// What is held of the source for a band of the result: what it needs, its last row rounded up to the
/// source's blocks, so that no block is decoded for two bands.
Rect held_rect(const Chain& chain, const std::vector<ImageSpec>& specs, const SourceLayout& source,
               const Rect& band);

/// Of the source, all of the same columns: `held` = `shared` above `missing`, either of which may be empty.
struct BandRows {
  Rect held;     ///< held_rect()
  Rect shared;   ///< the part of it that the band before holds
  Rect missing;  ///< the part that is to be read
};

/// `follows`: whether the band before is at hand; it is not for the first band of a run or of a device.
BandRows band_rows(const Plan& plan, const SourceLayout& source, std::int64_t band, bool follows);

/// View of a part of an image, densely packed, in a slot. Throws std::logic_error if the slot has no room for
/// it.
PixelView slot_view(const Buffer& slot, const ImageSpec& image, const Rect& part);

}  // namespace sepconv
