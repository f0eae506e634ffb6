// Stages on a volume, which the engine treats as an image: each plane along z is one row, in which the rows
// of the plane are concatenated. A filter along z is then a filter along columns, bands are groups of planes
// with halos in z, and parts of a plane are parts of a row.
#pragma once

#include "pipeline/chain/chain.hpp"

namespace sepconv {

/// Whether a stage of the chain, or of a subchain, filters along z.
bool filters_along_z(const Chain& chain);

/// The chain for a volume of this shape. Every stage processes each plane as an image; stages that filter
/// along z do that first. Its text is that of `chain`. Throws InvalidArgument if the result of a stage is
/// invalid for planes or if a row would be too long (kMaxSide).
Chain on_volume(const Chain& chain, const ImageSpec& plane, const VolumeShape& shape);

/// The same for one stage whose result has planes of extent `result`.
StagePtr on_volume(const StagePtr& stage, const ImageSpec& plane, Extent result, const VolumeShape& shape);

/// The chain without filters along z.
Chain in_planes(const Chain& chain);

}  // namespace sepconv
