#include "pipeline/chain/graph_steps.hpp"

#include <algorithm>

namespace sepconv {
namespace {

bool is_permutation(const Graph& graph, const Step& step) {
  return graph.nodes()[step.first].primitive->traits().is_permutation();
}

/// Whether node `i` only continues with the result of the node before, which no other node reads.
bool follows(const Graph& graph, std::size_t i) {
  const Node& node = graph.nodes()[i];
  return node.input == i && !node.second && graph.uses()[i] == 1;
}

/// Whether node `i` combines another value with the result of this step, which can apply that.
bool joins_last(const Graph& graph, const Step& step, std::size_t i) {
  const Node& node = graph.nodes()[i];
  return node.second == i && node.input != i && graph.uses()[i] == 1 && step.value() == i &&
         step.fused_ops.empty() && !step.join && graph.nodes()[step.first].primitive->traits().fuses_join &&
         node.primitive->traits().pointwise->fuses_into_convolution();
}

/// Intermediate values have the arithmetic type. Stages that only move pixels use the type that they deliver,
/// so a transpose at the end moves the bytes of the result and one at the beginning those of the source.
void set_result_types(std::vector<Step>& steps, const Graph& graph, Arithmetic arithmetic) {
  std::vector<std::optional<PixelType>> needed(graph.specs().size());
  needed.back() = graph.result().type;
  for (std::size_t i = steps.size(); i-- > 0;) {
    Step& step = steps[i];
    step.result = needed[step.value()].value_or(pixel_type_of(arithmetic));
    const std::size_t input = graph.nodes()[step.first].input;
    if (is_permutation(graph, step) && graph.uses()[input] == 1) needed[input] = step.result;
  }
  std::vector<bool> only_moved(graph.specs().size());
  if (!steps.empty()) only_moved[graph.nodes()[steps.front().first].input] = true;  // the source
  for (Step& step : steps) {
    if (!is_permutation(graph, step) || !only_moved[graph.nodes()[step.first].input]) continue;
    only_moved[step.value()] = true;
    step.result = graph.source().type;
  }
  std::vector<PixelType> stored(graph.specs().size(), graph.source().type);
  for (Step& step : steps) {
    const Node& node = graph.nodes()[step.first];
    const bool is_free = !needed[step.value()] && step.fused_ops.empty() && !step.join;
    if (is_free && node.primitive->traits().keeps_type) step.result = stored[node.input];
    stored[step.value()] = step.result;
  }
}

/// A slab is free again after the last step that reads its value.
void set_slabs(std::vector<Step>& steps, const Graph& graph) {
  constexpr std::size_t kNone = ~std::size_t{0};
  std::vector<std::size_t> slab_of(graph.specs().size(), kNone);
  std::vector<int> uses_left = graph.uses();
  std::vector<bool> taken;
  for (Step& step : steps) {
    step.slab = static_cast<std::size_t>(std::ranges::find(taken, false) - taken.begin());
    if (step.slab == taken.size()) taken.push_back(true);
    taken[step.slab] = true;
    slab_of[step.value()] = step.slab;
    const auto read = [&](std::size_t value) {
      if (--uses_left[value] == 0 && slab_of[value] != kNone) taken[slab_of[value]] = false;
    };
    const Node& node = graph.nodes()[step.first];
    read(node.input);
    if (node.second) read(*node.second);
    if (step.join) read(graph.nodes()[*step.join].input);
  }
}

std::vector<Step> finished(std::vector<Step> steps, const Graph& graph, Arithmetic arithmetic) {
  set_result_types(steps, graph, arithmetic);
  set_slabs(steps, graph);
  return steps;
}

}  // namespace

std::vector<Step> host_steps(const Graph& graph, Arithmetic arithmetic, std::size_t first,
                             std::optional<std::size_t> in_place) {
  std::vector<Step> steps;
  for (std::size_t i = first; i < graph.nodes().size(); ++i) {
    if (i == in_place && !steps.empty() && follows(graph, i) && !is_permutation(graph, steps.back())) {
      steps.back().fused_ops.push_back(
          graph.nodes()[i].primitive->traits().pointwise.value_or(PointwiseOp()));
    } else {
      steps.push_back({i});
    }
  }
  return finished(std::move(steps), graph, arithmetic);
}

std::vector<Step> fused_steps(const Graph& graph, Arithmetic arithmetic, std::size_t max_ops) {
  std::vector<Step> steps;
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const std::optional<PointwiseOp>& op = graph.nodes()[i].primitive->traits().pointwise;
    if (op && !steps.empty() && follows(graph, i) && steps.back().fused_ops.size() < max_ops &&
        !is_permutation(graph, steps.back())) {
      steps.back().fused_ops.push_back(*op);
    } else if (!steps.empty() && joins_last(graph, steps.back(), i)) {
      steps.back().join = i;
    } else {
      steps.push_back({i});
    }
  }
  return finished(std::move(steps), graph, arithmetic);
}

std::vector<std::int64_t> slab_bytes(const std::vector<Step>& steps, const Graph& graph,
                                     const std::vector<Extent>& needed) {
  std::vector<std::int64_t> bytes;
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
    const Step& step = steps[i];
    if (step.slab >= bytes.size()) bytes.resize(step.slab + 1);
    bytes[step.slab] =
        std::max(bytes[step.slab],
                 Arena::view_bytes(needed[step.value()], graph.specs()[step.value()].channels, step.result));
  }
  return bytes;
}

}  // namespace sepconv
