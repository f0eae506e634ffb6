#include "pipeline/stages/composite_stage.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "pipeline/chain/graph_tile.hpp"
#include "pipeline/stages/filter_stage.hpp"
#include "pipeline/stages/on_volume.hpp"
#include "pipeline/stages/stage_text.hpp"

namespace sepconv {
namespace {

ImageSpec spec_of(const ConstRegion& in) { return {in.image, in.pixels.channels, in.pixels.type}; }

}  // namespace

StageDeclaration CompositeStage::declaration_of(std::string text, const std::vector<StageNode>& nodes) {
  StageDeclaration declaration{.text = std::move(text),
                               .traits = {.work = {.operations_per_element = 0}, .nan = {.propagates = true}},
                               .properties = {.is_per_pixel = true,
                                              .is_complex_linear = true,
                                              .runs_on_device = true,
                                              .handles_nodata = true,
                                              .is_selection = true}};
  PrimitiveTraits& traits = declaration.traits;
  StageProperties& properties = declaration.properties;
  double halo_operations = 0;
  for (const StageNode& node : nodes) {
    const PrimitiveTraits& of_node = node.stage->traits();
    const StageProperties& other = node.stage->properties();
    traits.nan.propagates &= of_node.nan.propagates;
    traits.work.operations_per_element += of_node.work.operations_per_element;
    halo_operations += of_node.work.operations_per_element * of_node.work.halo_fraction;
    traits.work.halo_in_columns |= of_node.work.halo_in_columns;
    properties.filters_along_z |= other.filters_along_z;
    properties.is_per_pixel &= other.is_per_pixel || of_node.pointwise || of_node.is_permutation();
    properties.is_complex_linear &= other.is_complex_linear;
    properties.needs_f64 |= other.needs_f64;
    properties.runs_on_device &= other.runs_on_device;
    properties.device_kernels |= other.device_kernels;
    properties.handles_nodata &= other.handles_nodata;
    properties.is_selection &= other.is_selection;
    properties.mixes_channels |= other.mixes_channels && !other.keeps_last_channel;
    properties.tile_cols = std::max(properties.tile_cols, other.tile_cols);
  }
  traits.work.halo_fraction = halo_operations / traits.work.operations_per_element;
  return declaration;
}

std::vector<StageNode> CompositeStage::replaced(
    const std::function<StagePtr(const StagePtr&)>& replace) const {
  std::vector<StageNode> result;
  std::vector<std::size_t> values{0};
  std::map<StagePtr, StagePtr> variants;  // a stage that is applied twice stays the same for both
  for (const StageNode& node : nodes_) {
    const auto [made, is_new] = variants.try_emplace(node.stage);
    if (is_new) made->second = replace(node.stage);
    const StagePtr& stage = made->second;
    if (stage == nullptr) {
      values.push_back(values[node.input]);
      continue;
    }
    result.push_back({stage, values[node.input]});
    if (node.second) result.back().second = values[*node.second];
    values.push_back(result.size());
  }
  return result;
}

CompositeStage::CompositeStage(std::string text, std::vector<StageNode> nodes,
                               std::optional<MissingPolicy> default_nodata)
    : CompositeStage(declaration_of(std::move(text), nodes), nodes, default_nodata) {}

CompositeStage::CompositeStage(StageDeclaration declaration, std::vector<StageNode> nodes,
                               std::optional<MissingPolicy> default_nodata)
    : Stage(std::move(declaration)), nodes_(std::move(nodes)), default_nodata_(default_nodata) {}

StagePtr CompositeStage::remade(std::string text, std::vector<StageNode> nodes,
                                std::optional<MissingPolicy> default_nodata) const {
  return std::make_shared<CompositeStage>(std::move(text), std::move(nodes), default_nodata);
}

StagePtr CompositeStage::transposed() const {
  bool all = true;
  std::vector<StageNode> nodes = replaced([&](const StagePtr& stage) {
    StagePtr twin = stage->transposed();
    all = all && twin != nullptr;
    return twin;
  });
  return all ? remade(toggle_suffix(text(), " (transposed)"), std::move(nodes), default_nodata_) : nullptr;
}

StagePtr CompositeStage::with_nodata() const {
  return remade(default_nodata_ ? with_policy(text(), *default_nodata_) : text(),
                replaced([](const StagePtr& stage) { return stage->with_nodata(); }), {});
}

StagePtr CompositeStage::with_mask_channel() const {
  return remade(text(), replaced([](const StagePtr& stage) { return stage->with_mask_channel(); }),
                default_nodata_);
}

StagePtr CompositeStage::on_volume(const ImageSpec& plane, const VolumeShape& shape) const {
  if (!properties().filters_along_z) return nullptr;
  return remade(text(), replaced([&](const StagePtr& stage) {
                  return sepconv::on_volume(stage, plane, plane.extent, shape);
                }),
                default_nodata_);
}

StagePtr CompositeStage::in_plane() const {
  if (!properties().filters_along_z) return shared_from_this();
  return remade(text(), replaced([](const StagePtr& stage) { return stage->in_plane(); }), default_nodata_);
}

std::size_t CompositeStage::lower(std::vector<Node>& nodes, std::size_t input) const {
  std::vector<std::size_t> values{input};
  for (const StageNode& node : nodes_) {
    if (!node.second) {
      values.push_back(node.stage->lower(nodes, values[node.input]));
      continue;
    }
    nodes.push_back({node.stage, values[node.input], values[*node.second]});
    values.push_back(nodes.size());
  }
  return values.back();
}

Graph CompositeStage::graph(const ImageSpec& input) const { return Graph(Chain{shared_from_this()}, input); }

ValueRange CompositeStage::result_range(const ValueRange& input) const {
  std::vector<ValueRange> ranges{input};
  for (const StageNode& node : nodes_)
    ranges.push_back(node.second
                         ? range_of(*node.stage->traits().pointwise, ranges[node.input], ranges[*node.second])
                         : node.stage->result_range(ranges[node.input]));
  return ranges.back();
}

double CompositeStage::operations_per_element(Scratch scratch, const ImageSpec& input) const {
  const Graph whole = graph(input);
  double operations = 0;
  for (const Node& node : whole.nodes())
    operations += node.primitive->operations_per_element(scratch, whole.input(node));
  return operations;
}

std::int64_t CompositeStage::scratch_bytes(Scratch scratch, Extent output, const ImageSpec& input,
                                           Arithmetic arithmetic) const {
  ImageSpec widest = input;  // the input may be an intermediate result
  if (size_of(pixel_type_of(arithmetic)) > size_of(input.type)) widest.type = pixel_type_of(arithmetic);
  const Graph whole = graph(widest);
  const std::vector<Extent> needed = whole.max_needed_extents(output);
  return scratch == Scratch::host ? tile_scratch_bytes(whole, needed, arithmetic)
                                  : graph_device_bytes(whole, needed, arithmetic);
}

void CompositeStage::apply(const ConstRegion& in, const Region& out, Arithmetic arithmetic,
                           Worker& worker) const {
  compute_tile(graph(spec_of(in)), arithmetic, in, out, worker);
}

void CompositeStage::apply_reference(const ConstRegion& in, const Region& out, Arithmetic arithmetic) const {
  compute_reference(graph(spec_of(in)), arithmetic, in, out);
}

void CompositeStage::enqueue(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Arena& arena,
                             DeviceStream stream, const Epilogue& epilogue) const {
  enqueue_graph(graph(spec_of(in)), arithmetic, in, out, arena, stream, epilogue.ops);
}

}  // namespace sepconv
