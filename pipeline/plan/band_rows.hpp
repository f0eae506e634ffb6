// The part of the source that a band needs, and the part of it that the previous band already has in memory.
// Pure arithmetic for all streaming runners.
#pragma once

#include "core/memory.hpp"
#include "pipeline/plan/plan.hpp"

namespace sepconv {

/// Rectangle to keep in memory for a band of the result. `stage_index` is the stage whose input image is
/// meant: 0 is the source, others are second images. Its last row is rounded up to the image's blocks, so
/// that no block is decoded for two bands.
Rect resident_rect(const Graph& graph, const SourceLayout& layout, const Rect& band,
                   std::size_t stage_index = 0);

/// Parts of resident_rect(), all with the same columns: `held` consists of `shared` above `missing`. Either
/// may be empty.
struct BandRows {
  Rect held;     ///< resident_rect()
  Rect shared;   ///< part that the previous band has in memory
  Rect missing;  ///< part to be read
};

/// `follows`: the device has the previous band in memory. False for the first band of a run, and where a device
/// continues with bands from another range.
BandRows band_rows(const Plan& plan, const SourceLayout& layout, std::int64_t band, bool follows,
                   std::size_t stage_index = 0);

/// View of a part of an image, densely packed, in a slot. Throws std::logic_error if the slot is too small.
PixelView slot_view(const Buffer& slot, const ImageSpec& image, const Rect& part);

}  // namespace sepconv
