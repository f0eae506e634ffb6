#include <utility>

#include "pipeline/stages/filter_stage.hpp"
#include "pipeline/stages/volume_filter_stage.hpp"

namespace sepconv {
namespace {

/// A filter with one branch; the taps have been checked.
StagePtr single_branch(const std::string& text, const Border& border, SeparableTaps taps,
                       std::optional<MissingPolicy> missing) {
  return std::make_shared<FilterStage>(text, border, std::vector{std::move(taps)}, PointwiseOp(), missing);
}

StagePtr volume_filter(const std::string& text, const Border& border, const SeparableTaps& in_plane,
                       const SeparableTaps& along_z, std::optional<MissingPolicy> missing) {
  const auto passes = [=](const Border& pass_border, std::optional<MissingPolicy> policy) -> VolumePasses {
    const bool is_flat = in_plane.row.empty() && in_plane.col.empty();
    return {is_flat ? nullptr : single_branch(text, pass_border, in_plane, policy),
            single_branch(text, pass_border, along_z, policy)};
  };
  VolumeFilter filter{.passes = passes(border, missing)};
  if (missing.value_or(MissingPolicy::propagate) != MissingPolicy::propagate)
    filter.normalized = normalized_means([=](const Border& pass_border) { return passes(pass_border, {}); },
                                         border, missing == MissingPolicy::fill);
  if (!missing)
    filter.make_with_nodata = [=] {
      const MissingPolicy policy = default_policy({in_plane, along_z});
      return volume_filter(with_policy(text, policy), border, in_plane, along_z, policy);
    };
  return make_volume_filter_stage(text, std::move(filter));
}

}  // namespace

StagePtr make_volume_filter(const StageArguments& stage_args, const Convolving& options,
                            SeparableTaps in_plane, std::vector<double> along_z) {
  if (along_z.empty()) return make_filter(stage_args, options, {std::move(in_plane)});
  std::vector<SeparableTaps> passes_taps{std::move(in_plane), {{}, std::move(along_z)}};
  prepare_taps(stage_args, options, passes_taps);
  return volume_filter(stage_args.text(), options.border, passes_taps[0], passes_taps[1], options.nodata);
}

}  // namespace sepconv
