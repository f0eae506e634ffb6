#include "sepconv/pipeline/stages/on_volume.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sepconv/core/error.hpp"
#include "sepconv/pipeline/stages/beside_stage.hpp"
#include "sepconv/pipeline/stages/deep_stage.hpp"
#include "sepconv/pipeline/stages/own_chain_stage.hpp"
#include "sepconv/pipeline/stages/volume_stage.hpp"

namespace sepconv {

bool is_deep(const Chain& chain) {
  return std::ranges::any_of(chain.stages(), [](const StagePtr& stage) {
    const Chain* const own = own_chain_of(*stage);
    return is_deep_stage(*stage) || (own != nullptr && is_deep(*own));
  });
}

namespace {

StagePtr stage_on_volume(const StagePtr& stage, const ImageSpec& plane, Extent result,
                         const VolumeShape& shape) {
  if (stage->traits().has_second) return beside_volume(stage, {plane.extent, shape.depth, shape.planes});
  if (const Chain* const own = own_chain_of(*stage); own != nullptr && is_deep(*own))
    return with_own_chain(*stage, on_volume(*own, plane, shape));
  if (const StagePtr deep = deep_on_volume(*stage, plane.extent)) return deep;
  const StageTraits& traits = stage->traits();
  const bool anywhere = traits.of_one_pixel || traits.pointwise || traits.alpha;
  if (!is_deep_stage(*stage) && anywhere) return stage;
  return make_volume_stage(*stage, plane.extent, result);
}

}  // namespace

Chain on_volume(const Chain& chain, const ImageSpec& plane, const VolumeShape& shape) {
  Chain result;
  ImageSpec at = plane;
  for (const StagePtr& stage : chain.stages()) {
    const ImageSpec next = stage->output_spec(at);
    if (std::max(shape.planes * at.extent.area(), shape.planes * next.extent.area()) > kMaxSide)
      throw InvalidArgument(fmt::format(
          "planes of more than {} pixels at one z are not filtered along it; cut them into parts", kMaxSide));
    const Chain* const parts = deep_parts(*stage);
    result = result | (parts != nullptr ? on_volume(*parts, at, shape)
                                        : Chain(stage_on_volume(stage, at, next.extent, shape)));
    at = next;
  }
  return result;
}

Chain in_planes(const Chain& chain) {
  Chain result;
  for (const StagePtr& stage : chain.stages()) {
    if (const Chain* const parts = deep_parts(*stage)) {
      result = result | in_planes(*parts);
    } else if (const Chain* const own = own_chain_of(*stage); own != nullptr && is_deep(*own)) {
      result.then(with_own_chain(*stage, in_planes(*own)));
    } else if (const StagePtr in_plane = stage->in_plane()) {
      result.then(in_plane);
    }
  }
  return result;
}

}  // namespace sepconv
