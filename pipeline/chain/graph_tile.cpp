#include "pipeline/chain/graph_tile.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

#include "kernels/pointwise/pointwise.hpp"
#include "pipeline/chain/graph_steps.hpp"
#include "pipeline/chain/nodata_tile.hpp"
#include "pipeline/chain/wrap.hpp"

namespace sepconv {
namespace {

std::vector<Extent> extents_of(const std::vector<Rect>& rects) {
  std::vector<Extent> extents;
  for (const Rect& rect : rects) extents.push_back(rect.extent());
  return extents;
}

PixelView view_in(std::byte* slab, const Rect& rect, const ImageSpec& spec, PixelType type) {
  return {slab, rect.extent(), spec.channels, type,
          aligned_pitch_bytes(rect.cols * spec.channels * size_of(type))};
}

/// Upper bound of the arena bytes in which repeated_pixels() gathers an intermediate value of a periodic image:
/// only if all of the image is there, and the node reads beyond its edges.
std::int64_t gathered_bytes(const Step& step, const Graph& graph, const std::vector<Extent>& needed) {
  const Node& node = graph.nodes()[step.first];
  const ImageSpec& input = graph.input(node);
  const Extent& in = needed[node.input];
  if (node.input == 0 || in.rows < input.extent.rows || in.cols < input.extent.cols) return 0;
  const Extent result = graph.specs()[step.first + 1].extent;
  if (Rect::whole(input.extent).contains(node.primitive->input_for(Rect::whole(result), input))) return 0;
  const Extent out{std::min(needed[step.value()].rows, result.rows),
                   std::min(needed[step.value()].cols, result.cols)};
  return Arena::view_bytes(node.primitive->max_input_extent(out, input), input.channels, PixelType::f64);
}

/// Upper bound of the arena bytes for outputs that need up to these extents of each value.
std::int64_t steps_bytes(const std::vector<Step>& steps, const Graph& graph,
                         const std::vector<Extent>& needed, Scratch scratch, Arithmetic arithmetic) {
  std::int64_t max_scratch = 0;
  for (const Step& step : steps) {
    const Node& node = graph.nodes()[step.first];
    max_scratch = std::max(max_scratch, node.primitive->scratch_bytes(scratch, needed[step.value()],
                                                                      graph.input(node), arithmetic) +
                                            gathered_bytes(step, graph, needed));
  }
  for (const std::int64_t bytes : slab_bytes(steps, graph, needed)) max_scratch += Arena::bytes_for(bytes);
  return max_scratch;
}

/// For a periodic image: the pixels at `requested`, as a view into `in` if possible. If `in` is the whole
/// image and `requested` extends beyond its edges, they are gathered in the arena.
template <class Copy>
ConstRegion repeated_pixels(const ConstRegion& in, const Rect& requested, Arena& arena, const Copy& copy) {
  if (const std::optional<Rect> at = find_repetition(in.rect, requested, in.image)) {
    ConstRegion found = in.crop(*at);
    found.rect = requested;
    return found;
  }
  if (!in.rect.contains(Rect::whole(in.image)))
    throw std::logic_error("a stage reads more of its input than its input_for() returned: " +
                           to_string(requested));
  const Region gathered{arena.allocate_view(requested.extent(), in.pixels.channels, in.pixels.type),
                        requested, in.image};
  for (const PeriodicPiece& piece : periodic_pieces(requested, in.image))
    copy(in.crop(piece.inside).pixels, gathered.crop(piece.at).pixels);
  return gathered;
}

/// What a node reads: its input and, for a binary operation, the second operand.
struct Operands {
  ConstRegion in;
  std::optional<ConstRegion> second{};
};

/// Calls compute(operands, out) with all regions inside their images. A part of `out` beyond the edges is
/// computed from its position within the image.
template <class Copy, class Compute>
void compute_inside(const Node& node, const ImageSpec& input, const Operands& operands, const Region& out,
                    Arena& arena, const Copy& copy, const Compute& compute) {
  const auto is_inside = [](const auto& region) { return Rect::whole(region.image).contains(region.rect); };
  const auto& [in, second] = operands;
  if (is_inside(out) && is_inside(in) && in.rect.contains(node.primitive->input_for(out.rect, input)) &&
      (!second || second->rect.contains(out.rect)))
    return compute(operands, out);
  for (const PeriodicPiece& piece : periodic_pieces(out.rect, out.image)) {
    const Arena::Scope scope(arena);
    Region part = out.crop(piece.at);
    part.rect = piece.inside;
    Operands parts{repeated_pixels(in, node.primitive->input_for(piece.inside, input), arena, copy)};
    if (second) parts.second = repeated_pixels(*second, piece.inside, arena, copy);
    compute(parts, part);
  }
}

/// Calls compute(step, operands, out) for every step, with intermediate images in the arena. The source is
/// also the value that the first step reads.
template <class Copy, class Compute>
void for_each_step(const std::vector<Step>& steps, const Graph& graph, const ConstRegion& source,
                   const Region& out, Arena& arena, const Copy& copy, const Compute& compute) {
  const std::vector<Rect> rects = graph.needed_rects(out.rect);
  const Arena::Scope scope(arena);
  std::vector<std::byte*> slabs;
  for (const std::int64_t bytes : slab_bytes(steps, graph, extents_of(rects)))
    slabs.push_back(arena.allocate<std::byte>(bytes));
  std::vector<ConstRegion> values(graph.specs().size());
  values.front() = values[graph.nodes()[steps.front().first].input] = source;
  for (const Step& step : steps) {
    const Node& node = graph.nodes()[step.first];
    const std::size_t value = step.value();
    Region result = out;
    if (value + 1 < values.size())
      result = {view_in(slabs[step.slab], rects[value], graph.specs()[value], step.result), rects[value],
                graph.specs()[value].extent};
    Operands operands{values[node.input]};
    if (node.second) operands.second = values[*node.second];
    if (step.join) operands.second = values[graph.nodes()[*step.join].input];
    compute_inside(node, graph.input(node), operands, result, arena, copy,
                   [&](const Operands& from, const Region& to) { compute(step, from, to); });
    values[value] = result;
  }
}

}  // namespace

std::vector<Rect> tiles_of(const Rect& rect, Extent tile) {
  std::vector<Rect> tiles;
  for (std::int64_t row = rect.row; row < rect.row_end(); row += tile.rows) {
    for (std::int64_t col = rect.col; col < rect.col_end(); col += tile.cols) {
      tiles.push_back(Rect{row, col, tile.rows, tile.cols}.intersect(rect));
    }
  }
  return tiles;
}

Rect middle_rect(Extent image, Extent part) {
  const std::int64_t rows = std::min(part.rows, image.rows);
  const std::int64_t cols = std::min(part.cols, image.cols);
  return {(image.rows - rows) / 2, (image.cols - cols) / 2, rows, cols};
}

std::int64_t tile_scratch_bytes(const Graph& graph, const std::vector<Extent>& needed,
                                Arithmetic arithmetic) {
  return steps_bytes(host_steps(graph, arithmetic), graph, needed, Scratch::host, arithmetic);
}

std::int64_t tile_scratch_bytes(const Graph& graph, Extent tile, Arithmetic arithmetic) {
  const std::vector<Rect> rects = graph.needed_rects(middle_rect(graph.result().extent, tile));
  return tile_scratch_bytes(graph, extents_of(rects), arithmetic);
}

std::int64_t graph_device_bytes(const Graph& graph, const std::vector<Extent>& needed,
                                Arithmetic arithmetic) {
  return steps_bytes(fused_steps(graph, arithmetic), graph, needed, Scratch::device, arithmetic);
}

std::int64_t gather_scratch_bytes(const Graph& graph, const std::vector<Rect>& outputs) {
  const ImageSpec& source = graph.source();
  const auto gathered = [&](const Rect& output) {
    const Rect needed = graph.source_rect(output);
    return Rect::whole(source.extent).contains(needed)
               ? 0
               : Arena::view_bytes(needed.extent(), source.channels, source.type);
  };
  if (gathered(Rect::whole(graph.result().extent)) == 0) return 0;
  std::int64_t max_bytes = 0;
  for (const Rect& output : outputs) max_bytes = std::max(max_bytes, gathered(output));
  return max_bytes;
}

namespace {

/// Multiply-adds of a node whose result is `out`, computed from `in`. A row pass processes the rows of the
/// input, a column pass those of the output.
double node_operations(const Graph& graph, std::size_t index, const Rect& in, const Rect& out,
                       Scratch scratch) {
  const Node& node = graph.nodes()[index];
  const PrimitiveTraits& traits = node.primitive->traits();
  const auto width = static_cast<double>(traits.changes_size           ? std::max(in.cols, out.cols)
                                         : traits.work.halo_in_columns ? in.cols
                                                                       : out.cols);
  const auto height = static_cast<double>(traits.changes_size ? std::max(in.rows, out.rows) : out.rows);
  const double pixels = traits.work.halo_fraction * static_cast<double>(in.rows) * width +
                        (1 - traits.work.halo_fraction) * height * static_cast<double>(out.cols);
  return node.primitive->operations_per_element(scratch, graph.input(node)) * pixels *
         static_cast<double>(graph.specs()[index + 1].channels);
}

}  // namespace

double tile_operations(const Graph& graph, Extent tile, Scratch scratch) {
  const std::vector<Rect> rects = graph.needed_rects(middle_rect(graph.result().extent, tile));
  double operations = 0;
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    const Rect in = node.primitive->input_for(rects[i + 1], graph.input(node));
    operations += node_operations(graph, i, in, rects[i + 1], scratch);
  }
  return operations;
}

namespace {

void compute_part(const TilePath& path, const Graph& graph, Arithmetic arithmetic, const ConstRegion& source,
                  const Region& out, Worker& worker) {
  if (path.is_all_missing) return fill_pixels(out.pixels, *path.missing_value);
  const auto copy = [](const ConstPixelView& from, const PixelView& to) { copy_pixels(from, to); };
  for_each_step(host_steps(graph, arithmetic, path.first, path.stored_in_place), graph, source, out, worker,
                copy, [&](const Step& step, const Operands& operands, Region result) {
                  const Primitive& primitive = *graph.nodes()[step.first].primitive;
                  result.past_caches = result.past_caches && step.fused_ops.empty();
                  if (path.fuses && primitive.traits().nan.fuses)
                    return primitive.apply_fused(step.first == path.first ? path.mark : nullptr,
                                                 step.fused_ops.empty() ? nullptr : step.fused_ops.data(),
                                                 operands.in, result, arithmetic, worker);
                  if (operands.second)
                    pointwise_host(*primitive.traits().pointwise, operands.in.crop(result.rect).pixels,
                                   operands.second->crop(result.rect).pixels, result.pixels, arithmetic);
                  else
                    primitive.apply(operands.in, result, arithmetic, worker);
                  if (!step.fused_ops.empty())
                    store_missing_in_place(graph.nodes()[step.value() - 1].primitive->traits(), result.pixels,
                                           arithmetic);
                });
}

}  // namespace

void compute_tile(const Graph& graph, Arithmetic arithmetic, const ConstRegion& source, const Region& out,
                  Worker& worker) {
  if (graph.empty()) {
    const ConstPixelView pixels = source.crop(out.rect).pixels;
    return pointwise_host({}, pixels, pixels, out.pixels, arithmetic);
  }
  const std::vector<Rect> needed = graph.needed_rects(out.rect);
  const TilePath path = choose_tile_path(graph, source, needed);
  const std::vector<Rect> parts = split_mixed_tile(out.rect, needed.front().extent());
  // Parts of a periodic image may need other pixels than the whole tile does.
  const bool splits = path.mixed && std::ranges::all_of(parts, [&](const Rect& part) {
                        return source.rect.contains(graph.source_rect(part));
                      });
  if (!splits) return compute_part(path, graph, arithmetic, source, out, worker);
  for (const Rect& part : parts)
    compute_part(choose_tile_path(graph, source, graph.needed_rects(part)), graph, arithmetic, source,
                 out.crop(part), worker);
}

void enqueue_graph(const Graph& graph, Arithmetic arithmetic, const ConstRegion& source, const Region& out,
                   Arena& arena, DeviceStream stream, std::span<const PointwiseOp> epilogue_ops) {
  if (graph.empty()) {
    const ConstPixelView pixels = source.crop(out.rect).pixels;
    return pointwise_device({}, pixels, pixels, out.pixels, arithmetic, stream, epilogue_ops);
  }
  const std::vector<Step> steps = fused_steps(graph, arithmetic, kMaxFusedOps - epilogue_ops.size());
  const auto copy = [&](const ConstPixelView& from, const PixelView& to) { copy_pixels(from, to, stream); };
  for_each_step(steps, graph, source, out, arena, copy,
                [&](const Step& step, const Operands& operands, const Region& result) {
                  const Primitive& primitive = *graph.nodes()[step.first].primitive;
                  std::vector<PointwiseOp> ops = step.fused_ops;
                  if (&step == &steps.back()) ops.insert(ops.end(), epilogue_ops.begin(), epilogue_ops.end());
                  Epilogue epilogue{.ops = ops};
                  if (step.join) {
                    epilogue.join = &*graph.nodes()[*step.join].primitive->traits().pointwise;
                    epilogue.other = operands.second->crop(result.rect).pixels;
                  }
                  if (step.join || !operands.second)
                    return primitive.enqueue(operands.in, result, arithmetic, arena, stream, epilogue);
                  pointwise_device(*primitive.traits().pointwise, operands.in.crop(result.rect).pixels,
                                   operands.second->crop(result.rect).pixels, result.pixels, arithmetic,
                                   stream, ops);
                });
}

void compute_reference(const Graph& graph, Arithmetic arithmetic, const ConstRegion& source,
                       const Region& out) {
  std::vector<Buffer> images;
  std::vector<ConstRegion> values{source};
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    ImageSpec spec = graph.specs()[i + 1];
    spec.type = pixel_type_of(arithmetic);
    const bool is_last = i + 1 == graph.nodes().size();
    if (!is_last) images.emplace_back(spec.bytes());
    const Region result = is_last ? out : Region::whole(dense_view(images.back().data(), spec));
    const ConstRegion& in = values[node.input];
    if (node.second)
      pointwise_reference(*node.primitive->traits().pointwise, in.crop(result.rect).pixels,
                          values[*node.second].crop(result.rect).pixels, result.pixels, arithmetic);
    else
      node.primitive->apply_reference(in, result, arithmetic);
    values.push_back(result);
  }
}

}  // namespace sepconv
