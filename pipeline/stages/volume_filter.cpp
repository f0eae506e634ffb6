#include <utility>

#include "pipeline/stages/filter_stage.hpp"
#include "pipeline/stages/volume_filter_stage.hpp"

namespace sepconv {
namespace {

/// A filter of one branch, which is not checked any more.
StagePtr one_branch(const std::string& text, const Border& border, SeparableTaps taps,
                    std::optional<MissingPolicy> missing) {
  return std::make_shared<FilterStage>(text, border, std::vector{std::move(taps)}, PointwiseOp(), missing);
}

StagePtr volume_filter(const std::string& text, const Border& border, const SeparableTaps& in_plane,
                       const SeparableTaps& along_z, std::optional<MissingPolicy> missing) {
  const auto passes = [=](const Border& beyond, std::optional<MissingPolicy> of) -> VolumePasses {
    const bool is_flat = in_plane.row.empty() && in_plane.col.empty();
    return {is_flat ? nullptr : one_branch(text, beyond, in_plane, of),
            one_branch(text, beyond, along_z, of)};
  };
  VolumeFilter filter{.passes = passes(border, missing)};
  if (missing.value_or(MissingPolicy::propagate) != MissingPolicy::propagate)
    filter.present = present_means([=](const Border& beyond) { return passes(beyond, {}); }, border,
                                   missing == MissingPolicy::fill);
  if (!missing)
    filter.apply_nodata_policy = [=] {
      const MissingPolicy usual = usual_policy({in_plane, along_z});
      return volume_filter(with_policy(text, usual), border, in_plane, along_z, usual);
    };
  return make_volume_filter_stage(text, std::move(filter));
}

}  // namespace

StagePtr make_volume_filter(const StageArguments& spelling, const Convolving& options, SeparableTaps in_plane,
                            std::vector<double> along_z) {
  if (along_z.empty()) return make_filter(spelling, options, {std::move(in_plane)});
  std::vector<SeparableTaps> both{std::move(in_plane), {{}, std::move(along_z)}};
  prepare(spelling, options, both);
  return volume_filter(spelling.text(), options.border, both[0], both[1], options.nodata);
}

}  // namespace sepconv
