#include "pipeline/stages/composite_stage.hpp"

#include <algorithm>
#include <utility>

#include "pipeline/chain/graph_tile.hpp"
#include "pipeline/stages/filter_stage.hpp"
#include "pipeline/stages/on_volume.hpp"

namespace sepconv {
namespace {

ImageSpec spec_of(const ConstRegion& in) { return {in.image, in.pixels.channels, in.pixels.type}; }

}  // namespace

StageTraits CompositeStage::traits_of(const std::vector<Node>& nodes) {
  StageTraits traits{.is_per_pixel = true,
                     .is_complex_linear = true,
                     .runs_on_device = true,
                     .operations_per_element = 0,
                     .handles_nodata = true,
                     .propagates_nodata = true,
                     .is_selection = true};
  double halo_operations = 0;
  for (const Node& node : nodes) {
    const StageTraits& other = node.stage->traits();
    traits.filters_along_z |= other.filters_along_z;
    traits.is_per_pixel &= other.is_per_pixel || other.pointwise || other.is_permutation;
    traits.is_complex_linear &= other.is_complex_linear;
    traits.needs_f64 |= other.needs_f64;
    traits.runs_on_device &= other.runs_on_device;
    traits.handles_nodata &= other.handles_nodata;
    traits.propagates_nodata &= other.propagates_nodata;
    traits.is_selection &= other.is_selection;
    traits.mixes_channels |= other.mixes_channels && !other.keeps_last_channel;
    traits.operations_per_element += other.operations_per_element;
    halo_operations += other.operations_per_element * other.halo_work_fraction;
    traits.halo_work_in_columns |= other.halo_work_in_columns;
  }
  traits.halo_work_fraction = halo_operations / traits.operations_per_element;
  return traits;
}

std::vector<Node> CompositeStage::replaced(const std::function<StagePtr(const StagePtr&)>& replace) const {
  std::vector<Node> result;
  std::vector<std::size_t> values{0};
  for (const Node& node : nodes_) {
    StagePtr stage = replace(node.stage);
    if (stage == nullptr) {
      values.push_back(values[node.input]);
      continue;
    }
    result.push_back({std::move(stage), values[node.input]});
    if (node.second) result.back().second = values[*node.second];
    values.push_back(result.size());
  }
  return result;
}

CompositeStage::CompositeStage(std::string text, std::vector<Node> nodes,
                               std::optional<MissingPolicy> default_nodata)
    : CompositeStage(traits_of(nodes), std::move(text), nodes, default_nodata) {}

CompositeStage::CompositeStage(const StageTraits& traits, std::string text, std::vector<Node> nodes,
                               std::optional<MissingPolicy> default_nodata)
    : Stage(traits), text_(std::move(text)), nodes_(std::move(nodes)), default_nodata_(default_nodata) {}

StagePtr CompositeStage::remade(std::string text, std::vector<Node> nodes,
                                std::optional<MissingPolicy> default_nodata) const {
  return std::make_shared<CompositeStage>(std::move(text), std::move(nodes), default_nodata);
}

StagePtr CompositeStage::transposed() const {
  static constexpr std::string_view kMark = " (transposed)";
  std::string text = text_;
  if (text.ends_with(kMark))
    text.resize(text.size() - kMark.size());
  else
    text += kMark;
  bool all = true;
  std::vector<Node> nodes = replaced([&](const StagePtr& stage) {
    StagePtr twin = stage->transposed();
    all = all && twin != nullptr;
    return twin;
  });
  return all ? remade(std::move(text), std::move(nodes), default_nodata_) : nullptr;
}

StagePtr CompositeStage::with_nodata() const {
  return remade(default_nodata_ ? with_policy(text_, *default_nodata_) : text_,
                replaced([](const StagePtr& stage) { return stage->with_nodata(); }), {});
}

StagePtr CompositeStage::with_mask_channel() const {
  return remade(text_, replaced([](const StagePtr& stage) { return stage->with_mask_channel(); }),
                default_nodata_);
}

StagePtr CompositeStage::on_volume(const ImageSpec& plane, const VolumeShape& shape) const {
  if (!traits().filters_along_z) return nullptr;
  return remade(text_, replaced([&](const StagePtr& stage) {
                  return sepconv::on_volume(stage, plane, plane.extent, shape);
                }),
                default_nodata_);
}

StagePtr CompositeStage::in_plane() const {
  if (!traits().filters_along_z) return shared_from_this();
  return remade(text_, replaced([](const StagePtr& stage) { return stage->in_plane(); }), default_nodata_);
}

std::size_t CompositeStage::lower(std::vector<Node>& nodes, std::size_t input) const {
  std::vector<std::size_t> values{input};
  for (const Node& node : nodes_) {
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
  for (const Node& node : nodes_)
    ranges.push_back(node.second
                         ? range_of(*node.stage->traits().pointwise, ranges[node.input], ranges[*node.second])
                         : node.stage->result_range(ranges[node.input]));
  return ranges.back();
}

double CompositeStage::operations_per_element(Scratch scratch, const ImageSpec& input) const {
  const Graph whole = graph(input);
  double operations = 0;
  for (const Node& node : whole.nodes())
    operations += node.stage->operations_per_element(scratch, whole.input(node));
  return operations;
}

std::int64_t CompositeStage::tile_cols() const {
  std::int64_t unit = 1;
  for (const Node& node : nodes_) unit = std::max(unit, node.stage->tile_cols());
  return unit;
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
