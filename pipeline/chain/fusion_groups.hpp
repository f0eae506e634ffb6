// Groups of stages that are computed together, and the types of their results. Private to pipeline/chain.
#pragma once

#include <optional>
#include <vector>

#include "pipeline/chain/chain.hpp"

namespace sepconv {

/// A stage and the pointwise stages after it that are fused into it.
struct Step {
  std::size_t first;
  std::vector<PointwiseOp> fused_ops;
  PixelType result = PixelType::f32;  ///< type of the stored result
  std::size_t end() const noexcept { return first + 1 + fused_ops.size(); }
};

/// Steps for the CPU: one per stage, from `first` on. The exception is stage `in_place`, which is applied to
/// the stored result of the stage before; that step has one fused op, which is a placeholder if the stage is
/// an AlphaOp.
std::vector<Step> host_steps(const Chain& chain, const std::vector<ImageSpec>& specs, Arithmetic arithmetic,
                             std::size_t first = 0, std::optional<std::size_t> in_place = {});

/// Steps for a device: pointwise stages are fused into the stage before them.
std::vector<Step> fused_steps(const Chain& chain, const std::vector<ImageSpec>& specs, Arithmetic arithmetic);

}  // namespace sepconv
