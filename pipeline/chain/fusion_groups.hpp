// Which stages of a chain are computed together, and what their results are stored as. Private to
// pipeline/chain.
#pragma once

#include <optional>
#include <vector>

#include "pipeline/chain/chain.hpp"

namespace sepconv {

/// A stage and the pointwise stages after it that are done with it.
struct Step {
  std::size_t first;
  std::vector<PointwiseOp> fused_ops;
  PixelType result = PixelType::f32;  ///< what its result is stored as
  std::size_t end() const noexcept { return first + 1 + fused_ops.size(); }
};

/// Stages from `first` on, each for itself, as the CPU computes them; but for the stage `in_place`, which is
/// done with the one before on what that has stored: `then` has one operation, of no meaning if it is an
/// AlphaOp.
std::vector<Step> host_steps(const Chain& chain, const std::vector<ImageSpec>& specs, Arithmetic arithmetic,
                             std::size_t first = 0, std::optional<std::size_t> in_place = {});

/// Pointwise stages done by the stage before them, as a device computes them.
std::vector<Step> fused_steps(const Chain& chain, const std::vector<ImageSpec>& specs, Arithmetic arithmetic);

}  // namespace sepconv
