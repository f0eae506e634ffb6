// Sinks for volumes: images of which each row is one or several planes of a set. Internal to the planner.
#pragma once

#include <functional>
#include <memory>

#include "io/checkpoint.hpp"
#include "io/volume_set.hpp"
#include "pipeline/plan/missing.hpp"

namespace sepconv {

/// The metadata of a plane of the result, which comes after those before it.
using PlaneMetadata = std::function<Metadata(std::int64_t plane)>;

/// Hands each row on as planes, in order, with their smaller levels. `plane` is their spec; the first plane's
/// metadata are those that next() is given. `partial` may be null: then none can be gone on with.
std::unique_ptr<RasterSetWriter> volume_sinks(std::unique_ptr<RasterSetWriter> planes, const ImageSpec& plane,
                                              const VolumeAxes& axes, const MissingPixels& missing,
                                              PlaneMetadata metadata, std::shared_ptr<Checkpoint> partial);

}  // namespace sepconv
