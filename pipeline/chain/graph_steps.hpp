// Groups of nodes that are computed together, the types of their results and where these are stored. Private
// to pipeline/chain.
#pragma once

#include <optional>
#include <vector>

#include "pipeline/chain/graph.hpp"

namespace sepconv {

/// A node and the pointwise stages after it that are fused into it, in order.
struct Step {
  std::size_t first;  ///< index of the node
  std::vector<PointwiseOp> fused_ops{};
  /// Index of the binary node that is fused into `first`, whose result is its second operand.
  std::optional<std::size_t> join{};
  PixelType result = PixelType::f32;  ///< type of the stored result
  /// The result is stored in this slab, unless the step is the last. Steps whose results are not needed at the
  /// same time share a slab.
  std::size_t slab = 0;
  /// The value that is stored.
  std::size_t value() const noexcept { return first + 1 + (join ? 1 : 0) + fused_ops.size(); }
};

/// Steps for the CPU: one per node, from `first` on. The exception is node `in_place`, which is applied to
/// the stored result of the node before; that step has one fused op, which is a placeholder if the stage is
/// an AlphaOp.
std::vector<Step> host_steps(const Graph& graph, Arithmetic arithmetic, std::size_t first = 0,
                             std::optional<std::size_t> in_place = {});

/// Steps for a device: pointwise stages are fused into the node before them, at most `max_ops` into each.
std::vector<Step> fused_steps(const Graph& graph, Arithmetic arithmetic, std::size_t max_ops = kMaxFusedOps);

/// Bytes of each slab, for values of these extents.
std::vector<std::int64_t> slab_bytes(const std::vector<Step>& steps, const Graph& graph,
                                     const std::vector<Extent>& needed);

}  // namespace sepconv
