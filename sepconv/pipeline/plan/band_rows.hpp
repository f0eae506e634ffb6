// Which part of the source a band holds, and what of it the band before holds already. Pure arithmetic, for
// every streaming runner.
#pragma once

#include "sepconv/pipeline/plan/plan.hpp"

namespace sepconv {

/// Of the source, all of the same columns: `held` = `shared` above `missing`, either of which may be empty.
struct BandRows {
  Rect held;     ///< what the band needs, its last row rounded up to the source's blocks, so that no block is
                 ///< decoded for two bands
  Rect shared;   ///< the part of it that the band before holds
  Rect missing;  ///< the part that is to be read
};

/// `follows`: whether the band before is at hand; it is not for the first band of a run or of a device.
BandRows band_rows(const Plan& plan, const SourceLayout& source, std::int64_t band, bool follows);

}  // namespace sepconv
