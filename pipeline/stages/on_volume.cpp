#include "pipeline/stages/on_volume.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "pipeline/stages/binary_op_stage.hpp"
#include "pipeline/stages/subchain_stage.hpp"
#include "pipeline/stages/volume_filter_stage.hpp"
#include "pipeline/stages/volume_stage.hpp"

namespace sepconv {

bool filters_along_z(const Chain& chain) {
  return std::ranges::any_of(chain.stages(), [](const StagePtr& stage) {
    const Chain* const subchain = subchain_of(*stage);
    return is_volume_stage(*stage) || (subchain != nullptr && filters_along_z(*subchain));
  });
}

namespace {

StagePtr stage_on_volume(const StagePtr& stage, const ImageSpec& plane, Extent result,
                         const VolumeShape& shape) {
  if (stage->traits().has_secondary) return volume_operand(stage, {plane.extent, shape.depth, shape.planes});
  if (const Chain* const subchain = subchain_of(*stage); subchain != nullptr && filters_along_z(*subchain))
    return with_subchain(*stage, on_volume(*subchain, plane, shape));
  if (const StagePtr window_stage = volume_filter_on_volume(*stage, plane.extent)) return window_stage;
  const StageTraits& traits = stage->traits();
  const bool is_pixelwise = traits.is_per_pixel || traits.pointwise || traits.alpha;
  if (!is_volume_stage(*stage) && is_pixelwise) return stage;
  return make_volume_stage(*stage, plane.extent, result);
}

}  // namespace

Chain on_volume(const Chain& chain, const ImageSpec& plane, const VolumeShape& shape) {
  Chain result;
  ImageSpec current = plane;
  for (const StagePtr& stage : chain.stages()) {
    const ImageSpec next = stage->output_spec(current);
    if (std::max(shape.planes * current.extent.area(), shape.planes * next.extent.area()) > kMaxSide)
      throw InvalidArgument(fmt::format(
          "planes of more than {} pixels per z cannot be filtered along z; split them into parts", kMaxSide));
    const Chain* const parts = volume_parts(*stage);
    result = result | (parts != nullptr ? on_volume(*parts, current, shape)
                                        : Chain(stage_on_volume(stage, current, next.extent, shape)));
    current = next;
  }
  return result;
}

Chain in_planes(const Chain& chain) {
  Chain result;
  for (const StagePtr& stage : chain.stages()) {
    if (const Chain* const parts = volume_parts(*stage)) {
      result = result | in_planes(*parts);
    } else if (const Chain* const subchain = subchain_of(*stage);
               subchain != nullptr && filters_along_z(*subchain)) {
      result.then(with_subchain(*stage, in_planes(*subchain)));
    } else if (const StagePtr in_plane = stage->in_plane()) {
      result.then(in_plane);
    }
  }
  return result;
}

}  // namespace sepconv
