#include "pipeline/chain/graph.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/error.hpp"
#include "pipeline/chain/graph_tile.hpp"
#include "pipeline/chain/wrap.hpp"

namespace sepconv {

std::size_t Stage::lower(std::vector<Node>& nodes, std::size_t input) const {
  nodes.push_back({shared_from_this(), input});
  return nodes.size();
}

namespace {

void check_operands(const Stage& stage, const ImageSpec& a, const ImageSpec& b) {
  if (a.extent != b.extent || a.channels != b.channels)
    throw InvalidArgument("stage '" + stage.text() + "' combines images of different sizes or channels");
}

}  // namespace

Graph::Graph(const Chain& chain, const ImageSpec& source) : specs_{source}, stage_inputs_{0} {
  for (const StagePtr& stage : chain.stages()) {
    const std::size_t first = nodes_.size();
    const std::size_t result = stage->lower(nodes_, stage_inputs_.back());
    stage_inputs_.push_back(merge_duplicates(first, result, stage == chain.stages().back()));
    for (std::size_t i = first; i < nodes_.size(); ++i) {
      const Node& node = nodes_[i];
      if (node.second) check_operands(*stage, specs_[node.input], specs_[*node.second]);
      specs_.push_back(node.primitive->output_spec(specs_[node.input]));
    }
  }
  uses_.resize(specs_.size());
  for (const Node& node : nodes_) {
    ++uses_[node.input];
    if (node.second) ++uses_[*node.second];
  }
}

std::size_t Graph::merge_duplicates(std::size_t first, std::size_t result, bool keeps_result) {
  std::vector<std::size_t> value_of(nodes_.size() + 1);
  std::iota(value_of.begin(), value_of.end(), std::size_t{0});
  std::size_t end = first;
  for (std::size_t i = first; i < nodes_.size(); ++i) {
    Node node = nodes_[i];
    node.input = value_of[node.input];
    if (node.second) node.second = value_of[*node.second];
    const auto kept_end = nodes_.begin() + static_cast<std::ptrdiff_t>(end);
    const auto same =
        keeps_result && i + 1 == nodes_.size() ? kept_end : std::find(nodes_.begin(), kept_end, node);
    value_of[i + 1] = static_cast<std::size_t>(same - nodes_.begin()) + 1;
    if (same == kept_end) nodes_[end++] = std::move(node);
  }
  nodes_.resize(end);
  return value_of[result];
}

namespace {

/// Primitive::input_for() of a part of the result. Throws InvalidArgument if a user-defined stage returns an
/// empty rectangle.
Rect checked_input_for(const Primitive& primitive, const Rect& output, const ImageSpec& input) {
  const Rect needed = primitive.input_for(output, input);
  if (needed.empty() && !output.empty())
    throw InvalidArgument("input_for() of the stage " + primitive.text() + " names no pixels for " +
                          to_string(output) + " of its result; it must name those that apply() reads");
  return needed;
}

/// The part of the input that `primitive` needs for `output`. Parts of `output` beyond the edges of the result
/// repeat the pixels inside; their input is shifted by as many image sides, unless it is a whole side.
Rect needed_rect(const Primitive& primitive, const Rect& output, const ImageSpec& input, Extent result) {
  if (Rect::whole(result).contains(output)) return checked_input_for(primitive, output, input);
  const bool transposes = primitive.traits().is_transpose();
  Rect hull;
  for (const PeriodicPiece& piece : periodic_pieces(output, result)) {
    std::int64_t down = (piece.at.row - piece.inside.row) / result.rows;
    std::int64_t right = (piece.at.col - piece.inside.col) / result.cols;
    if (transposes) std::swap(down, right);
    Rect needed = checked_input_for(primitive, piece.inside, input);
    if (needed.rows != input.extent.rows) needed.row += down * input.extent.rows;
    if (needed.cols != input.extent.cols) needed.col += right * input.extent.cols;
    hull = hull.include(needed);
  }
  return hull;
}

}  // namespace

std::vector<Rect> Graph::needed_rects(const Rect& output) const {
  std::vector<Rect> rects(specs_.size());
  rects.back() = output;
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    const Node& node = nodes_[i];
    const Rect& result = rects[i + 1];
    rects[node.input] =
        rects[node.input].include(needed_rect(*node.primitive, result, input(node), specs_[i + 1].extent));
    if (node.second) rects[*node.second] = rects[*node.second].include(result);
  }
  return rects;
}

void Graph::include_needed_extents(const Rect& output, std::vector<Extent>& max_extents) const {
  max_extents.resize(specs_.size());
  const std::vector<Rect> rects = needed_rects(output);
  for (std::size_t i = 0; i < rects.size(); ++i)
    max_extents[i] = {std::max(max_extents[i].rows, rects[i].rows),
                      std::max(max_extents[i].cols, rects[i].cols)};
}

Extent Primitive::max_input_extent(Extent output, const ImageSpec& input) const {
  const Rect needed = input_for(middle_rect(output_spec(input).extent, output), input);
  const std::int64_t margin =
      traits_.changes_size ? 2 : 0;  // for another alignment of result pixels to input pixels
  return {needed.rows + margin, needed.cols + margin};
}

namespace {

Extent larger(Extent a, Extent b) { return {std::max(a.rows, b.rows), std::max(a.cols, b.cols)}; }
Extent smaller(Extent a, Extent b) { return {std::min(a.rows, b.rows), std::min(a.cols, b.cols)}; }

/// Bound of one side of the union of two parts that both contain `common` pixels.
std::int64_t united_side(std::int64_t a, std::int64_t b, std::int64_t common, std::int64_t image) {
  const std::int64_t sum = a + std::max<std::int64_t>(b - common, 0);
  return std::max(a, b) <= image ? std::min(sum, image) : sum;
}

}  // namespace

// A slightly larger output in the middle covers what stages need of each other beyond the image edges.
std::vector<Extent> Graph::max_needed_extents(Extent output) const {
  std::vector<Extent> needed;
  include_needed_extents(middle_rect(result().extent, {output.rows + 2, output.cols + 2}), needed);
  std::vector<Extent> bounds(specs_.size()), common(specs_.size());
  bounds.back() = output;
  const auto include = [&](std::size_t value, Extent part, Extent result) {
    Extent& bound = bounds[value];
    common[value] = bound.empty() ? result : smaller(common[value], result);
    const Extent& image = specs_[value].extent;
    bound = bound.empty() ? part
                          : Extent{united_side(bound.rows, part.rows, common[value].rows, image.rows),
                                   united_side(bound.cols, part.cols, common[value].cols, image.cols)};
  };
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    const Node& node = nodes_[i];
    needed[i + 1] = larger(needed[i + 1], bounds[i + 1]);
    include(node.input, node.primitive->max_input_extent(needed[i + 1], input(node)), needed[i + 1]);
    if (node.second) include(*node.second, needed[i + 1], needed[i + 1]);
  }
  needed.front() = larger(needed.front(), bounds.front());
  return needed;
}

Rect Chain::input_for(const Rect& output, const ImageSpec& source) const {
  return Graph(*this, source).source_rect(output);
}

}  // namespace sepconv
