// Stages that are graphs of other stages. Private to pipeline/stages.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/chain/graph.hpp"
#include "pipeline/stages/nodata_policy.hpp"

namespace sepconv {

/// A stage that is computed by nodes: value 0 is its input, the last value its result. The graph of a chain
/// contains the nodes themselves (lower()). Each variant of the stage, such as with_nodata(), has the same
/// variant of every node. The other functions compute the nodes for a caller that has only the stage.
class CompositeStage : public Stage {
 public:
  /// `default_nodata`: the policy of the nodes' with_nodata(), which the text of with_nodata() then names.
  /// Empty: the key is given.
  CompositeStage(std::string text, std::vector<StageNode> nodes,
                 std::optional<MissingPolicy> default_nodata = {});

  std::size_t lower(std::vector<Node>& nodes, std::size_t input) const override;

  StagePtr transposed() const override;
  StagePtr with_nodata() const override;
  StagePtr with_mask_channel() const override;
  StagePtr on_volume(const ImageSpec& plane, const VolumeShape& shape) const override;
  StagePtr in_plane() const override;

  ImageSpec output_spec(const ImageSpec& input) const override { return graph(input).result(); }
  ValueRange result_range(const ValueRange& input) const override;
  Rect input_for(const Rect& output, const ImageSpec& input) const override {
    return graph(input).source_rect(output);
  }
  Extent max_input_extent(Extent output, const ImageSpec& input) const override {
    return graph(input).max_needed_extents(output).front();
  }
  double operations_per_element(Scratch scratch, const ImageSpec& input) const override;
  std::int64_t scratch_bytes(Scratch scratch, Extent output, const ImageSpec& input,
                             Arithmetic arithmetic) const override;
  void apply(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Worker& worker) const override;
  void apply_reference(const ConstRegion& in, const Region& out, Arithmetic arithmetic) const override;
  void enqueue(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Arena& arena,
               DeviceStream stream, const Epilogue& epilogue) const override;

 protected:
  CompositeStage(StageDeclaration declaration, std::vector<StageNode> nodes,
                 std::optional<MissingPolicy> default_nodata);

  /// Properties that follow from those of the nodes.
  static StageDeclaration declaration_of(std::string text, const std::vector<StageNode>& nodes);
  const std::vector<StageNode>& nodes() const noexcept { return nodes_; }
  /// The nodes with other stages. If `replace` returns null, a node with one input is left out.
  std::vector<StageNode> replaced(const std::function<StagePtr(const StagePtr&)>& replace) const;
  /// The same stage with other nodes.
  virtual StagePtr remade(std::string text, std::vector<StageNode> nodes,
                          std::optional<MissingPolicy> default_nodata) const;

 private:
  Graph graph(const ImageSpec& input) const;

  std::vector<StageNode> nodes_;
  std::optional<MissingPolicy> default_nodata_;
};

}  // namespace sepconv
