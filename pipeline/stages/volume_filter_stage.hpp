// Stages that also filter along z: sigma_z, radius_z, axis=z. On a volume (on_volume.hpp) they are graphs of
// passes along the columns, which are z, and of stages within each plane.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernels/conv/border.hpp"
#include "kernels/sliding_window/deviation_formulas.hpp"
#include "pipeline/stages/keys.hpp"
#include "pipeline/stages/nodata_policy.hpp"

namespace sepconv {

/// How such a stage is computed.
struct VolumeFilter {
  StagePtr in_plane;  ///< the stage for images without an axis z; null if nothing remains
  /// Creates the nodes for a volume of this shape with planes like `plane`.
  std::function<std::vector<StageNode>(const ImageSpec& plane, const VolumeShape& shape)> nodes;
  /// As Stage::with_nodata(); empty: the stage itself.
  std::function<StagePtr()> with_nodata{};
};

/// A stage that on_volume() replaces by its nodes. Before that, input_for() and computing throw
/// InvalidArgument because an axis z is missing.
StagePtr make_volume_filter_stage(StageDeclaration declaration, VolumeFilter filter);

/// Creates the stage for the same options with nodata=ignore. Empty if the key is given.
template <class Options>
std::function<StagePtr()> ignoring_stage(const Options& options, StagePtr (*make)(const Options&)) {
  if (options.nodata) return {};
  return [ignoring = options, make]() mutable {
    ignoring.nodata = MissingPolicy::ignore;
    return make(ignoring);
  };
}

/// A pass along z, which filters columns only, and then a stage within each plane, which may be null.
struct VolumePasses {
  StagePtr in_plane, along_z;
};

/// Normalized filtering of valid pixels. With weights: values, with 0 for missing pixels, divided by the same
/// passes of weights, as in normalized_convolution.hpp. `weights` creates their passes for a border; they
/// treat NaN by IEEE arithmetic. Without: windows that skip missing pixels.
struct NormalizedPasses {
  VolumePasses values;
  std::function<VolumePasses(const Border&)> weights{};
  Border border{};
  bool fills = false;  ///< otherwise missing pixels stay missing
};

/// A volume filter of these passes; without `normalized` the passes handle NaN.
StagePtr make_volume_passes(const std::string& text, VolumePasses passes,
                            std::optional<NormalizedPasses> normalized,
                            std::function<StagePtr()> with_nodata);

/// The standard deviation in windows of a volume, computed from stages that average its values and squares.
/// With `contrast`: (pixel - mean) / deviation, with deviation at least `min_deviation`.
struct VolumeDeviation {
  StagePtr means, squares;  ///< on the volume
  SpreadWindows windows;    ///< radii, border and handling of NaN
  bool contrast = false;
  double min_deviation = 0;
};
/// `declaration` is that of the stage for images.
StagePtr make_volume_deviation(const StageDeclaration& declaration, const VolumeDeviation& deviation,
                               Extent plane);

}  // namespace sepconv
