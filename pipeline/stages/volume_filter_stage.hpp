// A stage that filters along z, too: sigma_z, radius_z, axis=z. On planes of a stack, which it meets as the
// rows of one image (on_volume.hpp), it is a pass along the columns and then a stage within each plane,
// several such one after another or joined, or a window over planes.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernels/conv/border.hpp"
#include "kernels/sliding_window/spread.hpp"
#include "pipeline/stages/keys.hpp"
#include "pipeline/stages/nodata_policy.hpp"

namespace sepconv {

/// The passes of a filter, of which the first may be null.
struct VolumePasses {
  StagePtr in_plane, along_z;
};

/// What such a stage makes of valid pixels of a volume: `values` of 0 for missing pixels over the same of
/// weights, as normalized_convolution.hpp has it, or without weights what windows that leave them out make.
struct NormalizedPasses {
  VolumePasses values;
  std::array<VolumePasses, 2> weights{};  ///< in f32, in f64, which the border's values are rounded to
  std::array<double, 2> totals{};         ///< of windows with nothing missing
  bool fills = false;                     ///< else what is missing stays so
};
/// For means, whose passes `make` makes for a border, computing with NaN as IEEE says.
NormalizedPasses normalized_means(const std::function<VolumePasses(const Border&)>& make,
                                  const Border& border, bool fills);

/// `along_z` filters columns only, `in_plane` is null where nothing is done within planes.
struct VolumeFilter {
  VolumePasses passes;
  std::optional<NormalizedPasses> normalized{};  ///< nothing: NaN is what the passes make of it
  std::function<StagePtr()> make_with_nodata{};  ///< as Stage has it; none: what is missing is settled
};

/// Several such filters of one volume, and what is made of them.
struct VolumeJoin {
  std::vector<StagePtr> branches;
  StagePtr in_plane;  ///< what planes without an axis z are given
  /// For the input and one branch, or of the first two, and of what that makes and the next.
  PointwiseOp op{};
  /// In its place the deviation, of branches that make means of the input and of its squares, or of
  /// `contrast` the pixel less its mean over that, where it is not below `least`.
  std::optional<SpreadWindows> deviation_windows{};  ///< their radii and border, and what they make of NaN
  bool contrast = false;
  double min_deviation = 0;
  std::function<StagePtr()> make_with_nodata{};
};

/// Until it is taken apart by on_volume() the stage throws InvalidArgument, which says that there is no axis
/// z, when it is asked what it needs or to compute.
StagePtr make_volume_filter_stage(std::string text, VolumeFilter filter);
/// The same of several stages along z, each of which sees what the one before has made of the volume.
StagePtr make_volume_filter_stage(std::string text, Chain parts);
StagePtr make_volume_filter_stage(std::string text, VolumeJoin join);
/// The same of what is no pass along z: `on_volume` makes the stage for planes of an extent (on_volume.hpp).
StagePtr make_volume_filter_stage(std::string text, StagePtr in_plane,
                                  std::function<StagePtr(Extent)> on_volume);

/// Whether it is a stage that make_volume_filter_stage() made.
bool is_volume_stage(const Stage& stage);
/// What such a stage makes for planes of this extent, if it is no pass along z; null of any other.
StagePtr volume_filter_on_volume(const Stage& stage, Extent plane);
/// These of such a stage; null of any other.
const Chain* volume_parts(const Stage& stage);
/// How the stage leaves missing pixels out; null where it does not, and of any other.
const NormalizedPasses* normalized_passes(const Stage& stage);
const VolumeJoin* volume_join(const Stage& stage);

}  // namespace sepconv
