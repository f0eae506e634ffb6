// What is made of several filters of a volume, for the stages that have such. Private to
// sepconv/pipeline/stages.
#pragma once

#include <utility>
#include <vector>

#include "sepconv/pipeline/stages/deep_stage.hpp"
#include "sepconv/pipeline/stages/filter_stage.hpp"

namespace sepconv {

/// `plane` of an image, and of a stack `branches`, filters along z, joined by `op`. `policy` is what is made
/// of missing pixels where the key is left out, and `again` makes the stage of other options.
template <class Options>
StagePtr make_deep_join(const Options& options, const Spelling& spelling, StagePtr plane,
                        std::vector<StagePtr> branches, PointwiseOp op, MissingPolicy policy,
                        StagePtr (*again)(const Options&)) {
  op.keeps_missing = options.missing.has_value();
  DeepJoin join{.branches = std::move(branches), .in_plane = std::move(plane), .op = op};
  if (!options.missing)
    join.honouring = [other = options, policy, again]() mutable {
      other.missing = policy;
      return again(other);
    };
  return make_deep(spelling.text(), std::move(join));
}

}  // namespace sepconv
