#include "pipeline/chain/nodata_tile.hpp"

#include <algorithm>
#include <limits>

#include "pipeline/chain/graph_tile.hpp"

namespace sepconv {
namespace {

using Kind = PointwiseOp::Kind;

bool has_kind(const Primitive& primitive, Kind kind) {
  const std::optional<PointwiseOp>& op = primitive.traits().pointwise;
  return op && op->kind == kind;
}

bool stores_missing(const Node& node) {
  const Primitive& primitive = *node.primitive;
  const std::optional<AlphaOp>& alpha = primitive.traits().alpha;
  return has_kind(primitive, Kind::store_missing) || (alpha && alpha->kind == AlphaOp::Kind::store);
}
bool marks_missing(const Primitive& primitive) {
  const std::optional<AlphaOp>& alpha = primitive.traits().alpha;
  return has_kind(primitive, Kind::mark_missing) || (alpha && alpha->kind == AlphaOp::Kind::hide);
}

/// Which pixels are missing for a chain that begins with this stage.
MissingState presence_for(const Primitive& first, const ConstPixelView& pixels) {
  if (first.traits().alpha) return find_missing_state(pixels, *first.traits().alpha);
  return find_missing_state(
      pixels, marks_missing(first) ? first.traits().pointwise->p : std::numeric_limits<double>::quiet_NaN());
}

/// The value that this stage stores in every element of a missing pixel; empty if elements differ.
std::optional<double> stored_missing_value(const PrimitiveTraits& store) {
  if (store.pointwise) return store.pointwise->p;
  return store.alpha->p == 0 ? std::optional(0.0) : std::nullopt;
}

/// Whether values of an integer source stay so small that no sum or product becomes infinite, and so none
/// NaN.
bool stays_finite(const Graph& graph) {
  constexpr double kMax = 1e15;  // its square is finite in f32
  if (is_floating(graph.source().type)) return false;
  double max_value = std::numeric_limits<std::uint16_t>::max();
  for (const Node& node : graph.nodes()) max_value *= std::max(1.0, node.primitive->traits().nan.max_gain);
  return max_value < kMax;
}

/// Whether all nodes from `first` to the last but one fuse nodata operations.
bool all_fuse_nodata(const Graph& graph, std::size_t first) {
  const std::vector<Node>& nodes = graph.nodes();
  return first + 1 < nodes.size() &&
         std::all_of(nodes.begin() + static_cast<std::ptrdiff_t>(first), nodes.end() - 1,
                     [](const Node& node) { return node.primitive->traits().nan.fuses; });
}

/// Which pixels of `rect` are missing. If only all_missing matters, checking the first pixel usually
/// suffices.
MissingState presence_in(const ConstRegion& source, const Rect& rect, const Primitive& first,
                         bool only_if_all) {
  if (!source.rect.contains(rect)) return MissingState::some_missing;
  const ConstPixelView pixels = source.crop(rect).pixels;
  if (only_if_all && presence_for(first, pixels.crop({0, 0, 1, 1})) != MissingState::all_missing)
    return MissingState::some_missing;
  return presence_for(first, pixels);
}

}  // namespace

TilePath choose_tile_path(const Graph& graph, const ConstRegion& source, const std::vector<Rect>& needed) {
  TilePath path;
  const std::vector<Node>& nodes = graph.nodes();
  const auto store = std::ranges::find_if(nodes, stores_missing);
  if (store == nodes.end()) return path;
  const PrimitiveTraits& last = store->primitive->traits();
  path.missing_value = stored_missing_value(last);
  const Primitive& front = *nodes.front().primitive;
  const std::size_t first = marks_missing(front) ? 1 : 0;
  path.fuses = !last.alpha && source.rect.contains(needed.front()) && source.rect.contains(needed[first]) &&
               store + 1 == nodes.end() && all_fuse_nodata(graph, first);
  const MissingState presence = presence_in(source, needed.front(), front, path.fuses);
  path.is_all_missing =
      presence == MissingState::all_missing && path.missing_value &&
      std::ranges::all_of(nodes, [](const Node& node) { return node.primitive->traits().nan.propagates; });
  const bool is_all_valid = presence == MissingState::none_missing;
  path.mixed = presence == MissingState::some_missing && !path.fuses;
  // For a periodic image the next stage may ask for parts at other positions in the source.
  if (first == 1 && is_all_valid && nodes.size() > 1 && source.rect.contains(needed[1])) path.first = 1;
  if (path.fuses) {
    path.first = first;
    if (first == 1) path.mark = &*front.traits().pointwise;
  }
  // Only floating-point pixels preserve a stored NaN, and alpha does not preserve one at all.
  const bool shows_nan = is_floating(graph.result().type) && !last.alpha;
  const bool no_nan = (is_all_valid || path.fuses) && stays_finite(graph);
  if (shows_nan || (no_nan && !is_floating(graph.result().type)))
    path.stored_in_place = static_cast<std::size_t>(store - nodes.begin());
  return path;
}

std::vector<Rect> split_mixed_tile(const Rect& out, Extent needed) {
  constexpr Extent kPart{64, 512};
  constexpr std::int64_t kMinPartToHalo = 3;
  const Extent part{std::max(kPart.rows, kMinPartToHalo * (needed.rows - out.rows)),
                    std::max(kPart.cols, kMinPartToHalo * (needed.cols - out.cols))};
  return tiles_of(out, part);
}

void store_missing_in_place(const PrimitiveTraits& store, const PixelView& pixels, Arithmetic arithmetic) {
  if (!store.alpha) {
    const PointwiseOp& op = *store.pointwise;
    if (find_missing_state(pixels, op.p) != MissingState::none_missing)
      pointwise_host(op, pixels, pixels, pixels, arithmetic);
    return;
  }
  AlphaOp searched{.channel = store.alpha->channel, .p = std::numeric_limits<double>::quiet_NaN()};
  if (store.alpha->q != store.alpha->p) searched.p = store.alpha->p;
  const bool may_be_negative = pixels.type == PixelType::i16;  // a negative alpha is not valid either
  if (may_be_negative || find_missing_state(pixels, searched) != MissingState::none_missing)
    alpha_host(*store.alpha, pixels, pixels, arithmetic);
}

}  // namespace sepconv
