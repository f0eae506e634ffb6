// Planes along z as one image: each plane is a row of it, with its rows one behind the other.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "io/raster_set.hpp"

namespace sepconv {

/// The axes of a set of planes, of which one runs through a volume.
struct VolumeAxes {
  RasterAxes outer;         ///< slower than it: these count volumes
  std::int64_t depth = 1;   ///< its length
  std::int64_t planes = 1;  ///< positions of those that are faster, which lie next to each other in a row

  /// Which plane it is, as the set counts them.
  std::int64_t plane(std::int64_t volume, std::int64_t z, std::int64_t beside) const noexcept {
    return (volume * depth + z) * planes + beside;
  }
};
/// Nothing where there is no such axis.
std::optional<VolumeAxes> volume_axes(const RasterAxes& axes, std::string_view along);

struct Volumes {
  std::unique_ptr<RasterSet> set;
  /// For a plane, as the set of planes counts them; from any thread. Lives on its own.
  std::function<Metadata(std::int64_t plane)> metadata;
};
/// The volumes of a set of planes: images of `axes.depth` rows and of the pixels of `axes.planes` planes
/// each. Rectangles are to be of whole rows of planes. A reader opens a plane when it is asked for a part of
/// it, so that its headers are read again for each part, and needs the memory of one plane's reader.
Volumes volumes_of(std::unique_ptr<RasterSet> planes, const VolumeAxes& axes);

}  // namespace sepconv
