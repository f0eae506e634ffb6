#include "pipeline/stages/on_volume.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "pipeline/stages/plane_stage.hpp"

namespace sepconv {

bool filters_along_z(const Chain& chain) {
  return std::ranges::any_of(chain.stages(),
                             [](const StagePtr& stage) { return stage->properties().filters_along_z; });
}

StagePtr on_volume(const StagePtr& stage, const ImageSpec& plane, Extent result, const VolumeShape& shape) {
  if (StagePtr replaced = stage->on_volume(plane, shape)) return replaced;
  const PrimitiveTraits& traits = stage->traits();
  const StageProperties& properties = stage->properties();
  if (properties.has_secondary)
    throw InvalidArgument(fmt::format(
        "stage '{}' has a second image, which is not supported in a chain that filters along z; use a "
        "run of its own",
        stage->text()));
  if (properties.is_per_pixel || traits.pointwise || traits.alpha) return stage;
  return make_plane_stage(stage, plane.extent, result);
}

Chain on_volume(const Chain& chain, const ImageSpec& plane, const VolumeShape& shape) {
  Chain result;
  ImageSpec current = plane;
  for (const StagePtr& stage : chain.stages()) {
    const ImageSpec next = stage->output_spec(current);
    if (std::max(shape.planes * current.extent.area(), shape.planes * next.extent.area()) > kMaxSide)
      throw InvalidArgument(fmt::format(
          "planes of more than {} pixels per z cannot be filtered along z; split them into parts", kMaxSide));
    result.then(on_volume(stage, current, next.extent, shape));
    current = next;
  }
  return result;
}

Chain in_planes(const Chain& chain) {
  Chain result;
  for (const StagePtr& stage : chain.stages())
    if (StagePtr in_plane = stage->in_plane()) result.then(std::move(in_plane));
  return result;
}

}  // namespace sepconv
