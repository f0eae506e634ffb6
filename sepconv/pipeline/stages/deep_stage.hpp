// A stage that filters along z, too: sigma_z, radius_z, axis=z. On planes of a stack, which it meets as the
// rows of one image (on_volume.hpp), it is a pass along the columns and then a stage within each plane,
// several such one after another or joined, or a window over planes.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sepconv/kernels/conv/border.hpp"
#include "sepconv/kernels/window/spread.hpp"
#include "sepconv/pipeline/stages/keys.hpp"
#include "sepconv/pipeline/stages/missing_policy.hpp"

namespace sepconv {

/// The passes of a filter, of which the first may be null.
struct DeepPasses {
  StagePtr in_plane, along_z;
};

/// What such a stage makes of what is there of a volume: `values` of 0 for missing pixels over the same of
/// weights, as what_is_there.hpp has it, or without weights what windows that leave them out make.
struct DeepPresent {
  DeepPasses values;
  std::array<DeepPasses, 2> weights{};  ///< in f32, in f64, which the border's values are rounded to
  std::array<double, 2> totals{};       ///< of windows with nothing missing
  bool fills = false;                   ///< else what is missing stays so
};
/// Of means, whose passes `make` makes for a border, computing with NaN as IEEE says.
DeepPresent present_means(const std::function<DeepPasses(const Border&)>& make, const Border& border,
                          bool fills);

/// `along_z` filters columns only, `in_plane` is null where nothing is done within planes.
struct DeepFilter {
  DeepPasses passes;
  std::optional<DeepPresent> present{};   ///< nothing: NaN is what the passes make of it
  std::function<StagePtr()> honouring{};  ///< as Stage has it; none: what is missing is settled
};

/// Several such filters of one volume, and what is made of them.
struct DeepJoin {
  std::vector<StagePtr> branches;
  StagePtr in_plane;  ///< what planes without an axis z are given
  /// Of the input and one branch, or of the first two, and of what that makes and the next.
  PointwiseOp op{};
  /// In its place the deviation, of branches that make means of the input and of its squares, or of
  /// `contrast` the pixel less its mean over that, where it is not below `least`.
  std::optional<SpreadWindows> deviates{};  ///< their radii and border, and what they make of NaN
  bool contrast = false;
  double least = 0;
  std::function<StagePtr()> honouring{};
};

/// Until it is taken apart by on_volume() the stage throws InvalidArgument, which says that there is no axis
/// z, when it is asked what it needs or to compute.
StagePtr make_deep(std::string text, DeepFilter filter);
/// The same of several stages along z, each of which sees what the one before has made of the volume.
StagePtr make_deep(std::string text, Chain parts);
StagePtr make_deep(std::string text, DeepJoin join);
/// The same of what is no pass along z: `on_volume` makes the stage for planes of an extent (on_volume.hpp).
StagePtr make_deep(std::string text, StagePtr in_plane, std::function<StagePtr(Extent)> on_volume);

/// Whether it is a stage that make_deep() made.
bool is_deep_stage(const Stage& stage);
/// What such a stage makes for planes of this extent, if it is no pass along z; null of any other.
StagePtr deep_on_volume(const Stage& stage, Extent plane);
/// These of such a stage; null of any other.
const Chain* deep_parts(const Stage& stage);
/// How the stage leaves missing pixels out; null where it does not, and of any other.
const DeepPresent* deep_present(const Stage& stage);
const DeepJoin* deep_join(const Stage& stage);

}  // namespace sepconv
