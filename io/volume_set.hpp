// A volume as an image: each row is a plane along z with its rows concatenated.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "io/raster_set.hpp"

namespace sepconv {

/// The axes of a set of planes, one of which is the axis of the volumes.
struct VolumeAxes {
  RasterAxes outer;         ///< axes slower than it, which number the volumes
  std::int64_t depth = 1;   ///< length of the axis
  std::int64_t planes = 1;  ///< number of positions of faster axes; their planes are adjacent in a row

  /// Index of a plane in the set.
  std::int64_t plane(std::int64_t volume, std::int64_t z, std::int64_t plane_in_row) const noexcept {
    return (volume * depth + z) * planes + plane_in_row;
  }
};
/// Null if the axis does not exist.
std::optional<VolumeAxes> volume_axes(const RasterAxes& axes, std::string_view along);

struct Volumes {
  std::unique_ptr<RasterSet> set;
  /// Metadata of a plane by its index in the set. Thread-safe; independent of `set`'s lifetime.
  std::function<Metadata(std::int64_t plane)> metadata;
};
/// The volumes of a set of planes: images of `axes.depth` rows, each with the pixels of `axes.planes` planes.
/// Rectangles must consist of whole rows of planes. Readers open a plane for each part that is read, which
/// reads its headers again, and need the memory of one plane's reader.
Volumes volumes_of(std::unique_ptr<RasterSet> planes, const VolumeAxes& axes);

}  // namespace sepconv
