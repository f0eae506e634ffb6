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
    return stage->along_z() != nullptr || deep_parts(*stage) != nullptr || deep_join(*stage) != nullptr ||
           (own != nullptr && is_deep(*own));
  });
}

namespace {

Extent most_needed_of(const Stage& stage, Extent output, const ImageSpec& input) {
  if (const auto* const volume = dynamic_cast<const OnVolume*>(&stage))
    return volume->most_needed(output, input);
  if (const Chain* const own = own_chain_of(stage)) {
    const std::vector<Extent> needed = most_needed_on_volume(*own, output, input);
    return {std::max(needed.front().rows, output.rows), std::max(needed.front().cols, output.cols)};
  }
  return output;
}

}  // namespace

std::vector<Extent> most_needed_on_volume(const Chain& chain, Extent output, const ImageSpec& input) {
  const std::vector<ImageSpec> specs = chain.specs(input);
  std::vector<Extent> needed(chain.size() + 1, output);
  for (std::size_t i = chain.size(); i-- > 0;)
    needed[i] = most_needed_of(*chain.stages()[i], needed[i + 1], specs[i]);
  return needed;
}

namespace {

StagePtr stage_on_volume(const StagePtr& stage, const ImageSpec& plane, Extent result,
                         const VolumeShape& shape) {
  if (stage->traits().has_second) return beside_volume(stage, {plane.extent, shape.depth, shape.planes});
  if (const Chain* const own = own_chain_of(*stage); own != nullptr && is_deep(*own))
    return own_chain_on_volume(*stage, on_volume(*own, plane, shape));
  const StageTraits& traits = stage->traits();
  const bool anywhere = traits.of_one_pixel || traits.pointwise || traits.alpha;
  if (!is_deep(stage) && anywhere) return stage;
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
      result.then(own_chain_in_planes(*stage, in_planes(*own)));
    } else if (const StagePtr in_plane = stage->in_plane()) {
      result.then(in_plane);
    }
  }
  return result;
}

}  // namespace sepconv
