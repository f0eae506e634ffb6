// What a stage within planes needs of them where they lie one behind the other in rows. Private to
// pipeline/stages.
#pragma once

#include "pipeline/chain/stage.hpp"
#include "pipeline/stages/volume_layout.hpp"

namespace sepconv {

/// For the planes `from`, for pixels of the planes `to` that `stage` makes of them.
struct PlanesNeeded {
  const Stage& stage;
  const PlaneRow& from;
  const PlaneRow& to;

  /// Whole rows of planes of the same z, and whole planes where that goes beyond their edges.
  Rect input_of(const Rect& output, const ImageSpec& input) const;
  /// At most, for this many columns of rows of `result_cols`, wherever they lie.
  std::int64_t max_cols(std::int64_t cols, const ImageSpec& input, std::int64_t result_cols) const;
};

/// For the parts of planes that such an output has, the largest.
inline Extent max_part_extent(const PlaneRow& planes, Extent output) {
  return {std::clamp<std::int64_t>(output.cols / planes.plane.cols, 1, planes.plane.rows),
          std::min(output.cols, planes.plane.cols)};
}

}  // namespace sepconv
