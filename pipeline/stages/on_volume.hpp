// Stages on a volume, which the engine has as an image: each plane along z is a row of it, and the rows of
// the plane lie one behind the other in that row. So a filter along z is one along columns, bands are groups
// of planes with halos in z, and parts of a plane are parts of a row.
#pragma once

#include "pipeline/chain/chain.hpp"

namespace sepconv {

/// The shape of such an image.
struct VolumeShape {
  Extent plane;
  std::int64_t depth = 1;   ///< planes along z
  std::int64_t planes = 1;  ///< in one row: positions of the axes that change faster than z

  /// For an image of planes like this one.
  ImageSpec spec(const ImageSpec& of_plane) const {
    return {{depth, planes * of_plane.extent.area()}, of_plane.channels, of_plane.type};
  }
};

/// Whether a stage of it filters along z, or one of a stage's own chain does.
bool filters_along_z(const Chain& chain);

/// The chain for an image of that shape: every stage does within each plane what it does to an image; those
/// that filter along z do so before. Its texts are those of the chain. Throws InvalidArgument for planes of
/// another type of result than they can be, and for volumes with rows that are too long (kMaxSide).
Chain on_volume(const Chain& chain, const ImageSpec& plane, const VolumeShape& shape);

/// What the chain does within planes, without what it does along z.
Chain in_planes(const Chain& chain);

}  // namespace sepconv
