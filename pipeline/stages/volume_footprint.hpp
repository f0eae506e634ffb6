// The input that a stage needs for planes that are concatenated in rows. Private to pipeline/stages.
#pragma once

#include "pipeline/chain/stage.hpp"
#include "pipeline/stages/volume_layout.hpp"

namespace sepconv {

/// The part of the planes `from` that `stage` needs for pixels of the planes `to`.
struct PlanesNeeded {
  const Stage& stage;
  const PlaneRow& from;
  const PlaneRow& to;

  /// The result is whole rows of planes at the same z, or whole planes if pixels beyond their edges are
  /// needed.
  Rect input_of(const Rect& output, const ImageSpec& input) const;
  /// Maximum number of input columns for any `cols` columns of result rows that have `result_cols` columns.
  std::int64_t max_cols(std::int64_t cols, const ImageSpec& input, std::int64_t result_cols) const;
};

/// Maximum extent of the part of a plane in such an output.
inline Extent max_part_extent(const PlaneRow& planes, Extent output) {
  return {std::clamp<std::int64_t>(output.cols / planes.plane.cols, 1, planes.plane.rows),
          std::min(output.cols, planes.plane.cols)};
}

}  // namespace sepconv
