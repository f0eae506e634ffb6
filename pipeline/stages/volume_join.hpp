// Creates stages that combine several filters of a volume. Private to pipeline/stages.
#pragma once

#include <utility>
#include <vector>

#include "pipeline/stages/filter_stage.hpp"
#include "pipeline/stages/volume_filter_stage.hpp"

namespace sepconv {

/// A stage that is `plane` for images, and for stacks `branches`, filters along z, combined by `op`. `policy`
/// applies to missing pixels if the key is omitted; `remake` creates the stage for other options.
template <class Options>
StagePtr make_volume_join(const Options& options, const StageArguments& stage_args, StagePtr plane,
                          std::vector<StagePtr> branches, PointwiseOp op, MissingPolicy policy,
                          StagePtr (*remake)(const Options&)) {
  op.propagates_nodata = options.nodata.has_value();
  VolumeJoin join{.branches = std::move(branches), .in_plane = std::move(plane), .op = op};
  if (!options.nodata)
    join.make_with_nodata = [changed = options, policy, remake]() mutable {
      changed.nodata = policy;
      return remake(changed);
    };
  return make_volume_filter_stage(stage_args.text(), std::move(join));
}

}  // namespace sepconv
