// A chain lowered to a graph: primitives, each with the values that it reads.
#pragma once

#include <optional>
#include <vector>

#include "pipeline/chain/chain.hpp"

namespace sepconv {

/// A chain for a source of one spec, as the engine computes it. A primitive that several nodes apply to the
/// same values is computed once; primitives are compared by their addresses. Value 0 is the source, and
/// value i + 1 the result of node i. Nodes are in the order of computation. The last value is the result;
/// every other value is read by a later node.
class Graph {
 public:
  Graph() = default;
  /// Lowers every stage of the chain (Stage::lower). Throws InvalidArgument if a stage cannot process its
  /// input.
  Graph(const Chain& chain, const ImageSpec& source);

  const std::vector<Node>& nodes() const noexcept { return nodes_; }
  bool empty() const noexcept { return nodes_.empty(); }
  /// One per value: size of nodes() + 1.
  const std::vector<ImageSpec>& specs() const noexcept { return specs_; }
  const ImageSpec& source() const noexcept { return specs_.front(); }
  const ImageSpec& result() const noexcept { return specs_.back(); }
  /// Results are stored in this type instead of the one that the last stage declares.
  void store_result_as(PixelType type) noexcept { specs_.back().type = type; }
  /// Spec of the first input of a node.
  const ImageSpec& input(const Node& node) const noexcept { return specs_[node.input]; }
  /// The value that stage `index` of the chain reads; for the size of the chain, the result.
  std::size_t stage_input(std::size_t index) const noexcept { return stage_inputs_[index]; }
  /// Number of nodes that read each value.
  const std::vector<int>& uses() const noexcept { return uses_; }

  /// The part of each value that `output` of the result depends on; not empty unless `output` is. Parts that
  /// several nodes need are united.
  std::vector<Rect> needed_rects(const Rect& output) const;
  Rect source_rect(const Rect& output) const { return needed_rects(output).front(); }

  /// Raises `max_extents`, one per value, to the extents of needed_rects(output). Starting from an empty
  /// vector, this gives the maximum over all outputs.
  void include_needed_extents(const Rect& output, std::vector<Extent>& max_extents) const;
  /// Maximum extent needed of each value for any output up to this extent, at any position.
  std::vector<Extent> max_needed_extents(Extent output) const;

 private:
  /// Removes nodes from `first` on that repeat an earlier node: the same primitive for the same values. Returns
  /// the value that replaces `result`. `keeps_result`: the last node stays, because it is the graph's result.
  std::size_t merge_duplicates(std::size_t first, std::size_t result, bool keeps_result);

  std::vector<Node> nodes_;
  std::vector<ImageSpec> specs_;
  std::vector<std::size_t> stage_inputs_;
  std::vector<int> uses_;
};

}  // namespace sepconv
