// A stage that filters along z, too: sigma_z, radius_z, axis=z. On planes of a stack, which it meets as the
// rows of one image (on_volume.hpp), it is a pass along the columns and then a stage within each plane, or
// several such one after another.
#pragma once

#include <functional>
#include <string_view>

#include "sepconv/pipeline/stages/keys.hpp"
#include "sepconv/pipeline/stages/missing_policy.hpp"

namespace sepconv {

/// `along_z` filters columns only, `in_plane` is null where nothing is done within planes. The text is the
/// spelling's. Until it is taken apart by on_volume() the stage throws InvalidArgument, which says that there
/// is no axis z, when it is asked what it needs or to compute.
StagePtr make_deep(const Spelling& spelling, StagePtr in_plane, StagePtr along_z);
/// The same of several stages along z, each of which sees what the one before has made of the volume.
StagePtr make_deep(const Spelling& spelling, Chain parts);
/// The same of what is no pass along z: `on_volume` makes the stage for planes of an extent (on_volume.hpp).
StagePtr make_deep(const Spelling& spelling, StagePtr in_plane, std::function<StagePtr(Extent)> on_volume);

/// Whether it is a stage that make_deep() made.
bool is_deep_stage(const Stage& stage);
/// What such a stage makes for planes of this extent, if it is no pass along z; null of any other.
StagePtr deep_on_volume(const Stage& stage, Extent plane);
/// The stages of such a stage; null of any other.
const Chain* deep_parts(const Stage& stage);

/// What is made of pixels along z. None of it knows behind its pass along z which pixels were missing.
enum class AlongZ : std::uint8_t {
  means,
  extremes,     ///< these take missing=fill
  differences,  ///< of extremes and the input
};
/// Refuses a value of the key `missing` for which that had to be known.
void check_missing_along_z(const Spelling& spelling, std::optional<MissingPolicy> missing, AlongZ kind);
/// The same of the stage of this text where its source declares missing pixels and the key is left out.
[[noreturn]] void refuse_missing_along_z(std::string_view text, AlongZ kind);

}  // namespace sepconv
