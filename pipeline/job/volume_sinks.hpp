// Sinks for volumes: images whose rows are one or several planes of a set. Internal to job/.
#pragma once

#include <functional>
#include <memory>

#include "io/checkpoint/checkpoint.hpp"
#include "io/volume_set.hpp"
#include "pipeline/plan/missing.hpp"

namespace sepconv {

/// Metadata of a plane of the result; called in ascending order.
using PlaneMetadata = std::function<Metadata(std::int64_t plane)>;

/// Writes each row as planes, in order, with their smaller levels. `plane` is their spec; the first plane
/// uses the metadata given to next(). `checkpoint` may be null: then the result cannot be resumed.
std::unique_ptr<RasterSetWriter> volume_sinks(std::unique_ptr<RasterSetWriter> planes, const ImageSpec& plane,
                                              const VolumeAxes& axes, const MissingPixels& missing,
                                              PlaneMetadata metadata, std::shared_ptr<Checkpoint> checkpoint);

}  // namespace sepconv
