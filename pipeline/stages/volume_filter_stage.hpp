// Stages that also filter along z: sigma_z, radius_z, axis=z. The planes of a stack are rows of one image
// (on_volume.hpp). The filter is a pass along the columns and then a stage within each plane, several of
// these in sequence or combined, or a window over planes.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernels/conv/border.hpp"
#include "kernels/sliding_window/deviation_formulas.hpp"
#include "pipeline/stages/keys.hpp"
#include "pipeline/stages/nodata_policy.hpp"

namespace sepconv {

/// The passes of a filter; in_plane may be null.
struct VolumePasses {
  StagePtr in_plane, along_z;
};

/// Normalized filtering of the valid pixels of a volume: `values` with 0 for missing pixels, divided by the
/// same passes of weights, as in normalized_convolution.hpp. Without weights: windows that skip missing
/// pixels.
struct NormalizedPasses {
  VolumePasses values;
  std::array<VolumePasses, 2> weights{};  ///< for f32 and f64, which border values are rounded to
  std::array<double, 2> totals{};         ///< weights of windows without missing pixels
  bool fills = false;                     ///< otherwise missing pixels stay missing
};
/// NormalizedPasses of an average. `make` creates its passes for a border; they treat NaN by IEEE arithmetic.
NormalizedPasses normalized_means(const std::function<VolumePasses(const Border&)>& make,
                                  const Border& border, bool fills);

/// A filter; passes.along_z filters columns only, and passes.in_plane is null if the filter acts along z
/// only.
struct VolumeFilter {
  VolumePasses passes;
  std::optional<NormalizedPasses> normalized{};  ///< empty: the passes handle NaN
  std::function<StagePtr()> make_with_nodata{};  ///< as Stage::with_nodata(); empty: the stage itself
};

/// Several such filters of one volume, and the operation that combines them.
struct VolumeJoin {
  std::vector<StagePtr> branches;
  StagePtr in_plane;  ///< the stage for images without an axis z
  /// Combines the input with one branch, or the first two branches, then that result with the next.
  PointwiseOp op{};
  /// Replaces `op` by the standard deviation, computed from branches that average the input and its square.
  /// With `contrast`: (pixel - mean) / deviation, with deviation at least `min_deviation`.
  std::optional<SpreadWindows> deviation_windows{};  ///< radii, border and handling of NaN
  bool contrast = false;
  double min_deviation = 0;
  std::function<StagePtr()> make_with_nodata{};
};

/// A stage that on_volume() replaces by its passes. Before that, input_for() and computing throw
/// InvalidArgument because an axis z is missing.
StagePtr make_volume_filter_stage(std::string text, VolumeFilter filter);
/// The same for several stages along z, applied in sequence to the whole volume.
StagePtr make_volume_filter_stage(std::string text, Chain parts);
StagePtr make_volume_filter_stage(std::string text, VolumeJoin join);
/// The same for a filter that is not a pass along z: `on_volume` creates the stage for planes of an extent
/// (on_volume.hpp).
StagePtr make_volume_filter_stage(std::string text, StagePtr in_plane,
                                  std::function<StagePtr(Extent)> on_volume);

/// Whether make_volume_filter_stage() created the stage.
bool is_volume_stage(const Stage& stage);
/// The stage for planes of this extent, if the filter is not a pass along z; otherwise null.
StagePtr volume_filter_on_volume(const Stage& stage, Extent plane);
/// The parts of such a stage; null for any other.
const Chain* volume_parts(const Stage& stage);
/// The normalization of the stage; null if it has none, and for any other stage.
const NormalizedPasses* normalized_passes(const Stage& stage);
const VolumeJoin* volume_join(const Stage& stage);

}  // namespace sepconv
