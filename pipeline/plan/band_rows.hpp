// Which part of the source a band holds, and what of it the band before holds already. Pure arithmetic, for
// every streaming runner.
#pragma once

#include "core/memory.hpp"
#include "pipeline/plan/plan.hpp"

namespace sepconv {

/// What is held for a band of the result of the image `over` the input of a stage: the source over that of
/// the first, or a second image. It is what the band needs, its last row rounded up to the image's blocks, so
/// that no block is decoded for two bands.
Rect resident_rect(const Chain& chain, const std::vector<ImageSpec>& specs, const SourceLayout& layout,
                   const Rect& band, std::size_t over = 0);

/// For such an image, all of the same columns: `held` = `shared` above `missing`, either of which may be
/// empty.
struct BandRows {
  Rect held;     ///< resident_rect()
  Rect shared;   ///< the part of it that the band before holds
  Rect missing;  ///< the part that is to be read
};

/// `follows`: whether the band before is at hand; it is not for the first band of a run or of a device.
BandRows band_rows(const Plan& plan, const SourceLayout& layout, std::int64_t band, bool follows,
                   std::size_t over = 0);

/// View of a part of an image, densely packed, in a slot. Throws std::logic_error if the slot has no room for
/// it.
PixelView slot_view(const Buffer& slot, const ImageSpec& image, const Rect& part);

}  // namespace sepconv
