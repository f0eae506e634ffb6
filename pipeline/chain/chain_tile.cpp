#include "pipeline/chain/chain_tile.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>
#include <utility>

#include "core/error.hpp"
#include "kernels/pointwise/pointwise.hpp"
#include "pipeline/chain/fusion_groups.hpp"
#include "pipeline/chain/nodata_tile.hpp"
#include "pipeline/chain/wrap.hpp"

namespace sepconv {
namespace {

std::vector<Extent> extents_of(const std::vector<Rect>& rects) {
  std::vector<Extent> extents;
  for (const Rect& rect : rects) extents.push_back(rect.extent());
  return extents;
}

/// Sizes of the two slabs that intermediate images alternate between: the result of step i is in slab i % 2.
std::array<std::int64_t, 2> slab_bytes(const std::vector<Step>& steps, const std::vector<ImageSpec>& specs,
                                       const std::vector<Extent>& needed) {
  std::array<std::int64_t, 2> bytes{};
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
    const std::size_t end = steps[i].end();
    bytes[i % 2] =
        std::max(bytes[i % 2], Arena::view_bytes(needed[end], specs[end].channels, steps[i].result));
  }
  return bytes;
}

PixelView view_in(std::byte* slab, const Rect& rect, const ImageSpec& spec, PixelType type) {
  return {slab, rect.extent(), spec.channels, type,
          aligned_pitch_bytes(rect.cols * spec.channels * size_of(type))};
}

/// Upper bound of the arena bytes for outputs that need up to these extents of the input of each stage.
std::int64_t steps_bytes(const std::vector<Step>& steps, const Chain& chain,
                         const std::vector<ImageSpec>& specs, const std::vector<Extent>& needed,
                         Scratch scratch, Arithmetic arithmetic) {
  const auto slabs = slab_bytes(steps, specs, needed);
  std::int64_t max_scratch = 0;
  for (const Step& step : steps) {
    max_scratch = std::max(max_scratch, chain.stages()[step.first]->scratch_bytes(
                                            scratch, needed[step.end()], specs[step.first], arithmetic));
  }
  return Arena::bytes_for(slabs[0]) + Arena::bytes_for(slabs[1]) + max_scratch;
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

/// Calls compute(in, out) with both inside their images. A part of `out` beyond the edges is computed from
/// its position within the image. `needed` is the part of `in` that `out` depends on.
template <class Copy, class Compute>
void compute_inside(const Stage& stage, const ImageSpec& input, const Rect& needed, const ConstRegion& in,
                    const Region& out, Arena& arena, const Copy& copy, const Compute& compute) {
  if (Rect::whole(out.image).contains(out.rect) && Rect::whole(in.image).contains(in.rect) &&
      in.rect.contains(needed))
    return compute(in, out);
  for (const PeriodicPiece& piece : periodic_pieces(out.rect, out.image)) {
    const Arena::Scope scope(arena);
    Region part = out.crop(piece.at);
    part.rect = piece.inside;
    compute(repeated_pixels(in, stage.input_for(piece.inside, input), arena, copy), part);
  }
}

/// Stage::input_for() of a part of the result. Throws InvalidArgument if a user-defined stage returns an
/// empty rectangle.
Rect checked_input_for(const Stage& stage, const Rect& output, const ImageSpec& input) {
  const Rect needed = stage.input_for(output, input);
  if (needed.empty() && !output.empty())
    throw InvalidArgument("input_for() of the stage " + stage.text() + " names no pixels for " +
                          to_string(output) + " of its result; it must name those that apply() reads");
  return needed;
}

/// The part of the input that `stage` needs for `output`. Parts of `output` beyond the edges of the result
/// repeat the pixels inside; their input is shifted by as many image sides, unless it is a whole side.
Rect needed_rect(const Stage& stage, const Rect& output, const ImageSpec& input, Extent result) {
  if (Rect::whole(result).contains(output)) return checked_input_for(stage, output, input);
  const bool transposes = !stage.transposed_item(input).empty();
  Rect hull;
  for (const PeriodicPiece& piece : periodic_pieces(output, result)) {
    std::int64_t down = (piece.at.row - piece.inside.row) / result.rows;
    std::int64_t right = (piece.at.col - piece.inside.col) / result.cols;
    if (transposes) std::swap(down, right);
    Rect needed = checked_input_for(stage, piece.inside, input);
    if (needed.rows != input.extent.rows) needed.row += down * input.extent.rows;
    if (needed.cols != input.extent.cols) needed.col += right * input.extent.cols;
    hull = hull.include(needed);
  }
  return hull;
}

/// Calls compute(stage, step, in, out) for every step, with intermediate images in the arena.
template <class Copy, class Compute>
void for_each_step(const std::vector<Step>& steps, const Chain& chain, const std::vector<ImageSpec>& specs,
                   const ConstRegion& source, const Region& out, Arena& arena, const Copy& copy,
                   const Compute& compute) {
  const std::vector<Rect> rects = needed_rects(chain, specs, out.rect);
  const Arena::Scope scope(arena);
  const auto bytes = slab_bytes(steps, specs, extents_of(rects));
  const std::array<std::byte*, 2> slabs{arena.allocate<std::byte>(bytes[0]),
                                        arena.allocate<std::byte>(bytes[1])};
  ConstRegion in = source;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::size_t end = steps[i].end();
    Region result = out;
    if (i + 1 < steps.size())
      result = {view_in(slabs[i % 2], rects[end], specs[end], steps[i].result), rects[end],
                specs[end].extent};
    const std::size_t first = steps[i].first;
    const Stage& stage = *chain.stages()[first];
    compute_inside(stage, specs[first], rects[first], in, result, arena, copy,
                   [&](const ConstRegion& from, const Region& to) { compute(stage, steps[i], from, to); });
    in = result;
  }
}

}  // namespace

std::vector<Rect> needed_rects(const Chain& chain, const std::vector<ImageSpec>& specs, const Rect& output) {
  std::vector<Rect> rects(chain.size() + 1);
  rects.back() = output;
  for (std::size_t i = chain.size(); i-- > 0;)
    rects[i] = needed_rect(*chain.stages()[i], rects[i + 1], specs[i], specs[i + 1].extent);
  return rects;
}

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

void include_needed_extents(const Chain& chain, const std::vector<ImageSpec>& specs, const Rect& output,
                            std::vector<Extent>& max_extents) {
  max_extents.resize(chain.size() + 1);
  const std::vector<Rect> rects = needed_rects(chain, specs, output);
  for (std::size_t i = 0; i < rects.size(); ++i)
    max_extents[i] = {std::max(max_extents[i].rows, rects[i].rows),
                      std::max(max_extents[i].cols, rects[i].cols)};
}

Extent Stage::max_input_extent(Extent output, const ImageSpec& input) const {
  const Rect needed = input_for(middle_rect(output_spec(input).extent, output), input);
  const std::int64_t margin =
      traits_.changes_size ? 2 : 0;  // for another alignment of result pixels to input pixels
  return {needed.rows + margin, needed.cols + margin};
}

// A slightly larger output in the middle covers what stages need of each other beyond the image edges.
std::vector<Extent> max_needed_extents(const Chain& chain, const std::vector<ImageSpec>& specs,
                                       Extent output) {
  std::vector<Extent> needed{};
  include_needed_extents(chain, specs, middle_rect(specs.back().extent, {output.rows + 2, output.cols + 2}),
                         needed);
  needed.back() = {std::max(needed.back().rows, output.rows), std::max(needed.back().cols, output.cols)};
  for (std::size_t i = chain.size(); i-- > 0;) {
    const Extent max_input = chain.stages()[i]->max_input_extent(needed[i + 1], specs[i]);
    needed[i] = {std::max(needed[i].rows, max_input.rows), std::max(needed[i].cols, max_input.cols)};
  }
  return needed;
}

std::int64_t tile_scratch_bytes(const Chain& chain, const std::vector<ImageSpec>& specs,
                                const std::vector<Extent>& needed, Arithmetic arithmetic) {
  return steps_bytes(host_steps(chain, specs, arithmetic), chain, specs, needed, Scratch::host, arithmetic);
}

std::int64_t tile_scratch_bytes(const Chain& chain, const std::vector<ImageSpec>& specs, Extent tile,
                                Arithmetic arithmetic) {
  const std::vector<Rect> rects = needed_rects(chain, specs, middle_rect(specs.back().extent, tile));
  return tile_scratch_bytes(chain, specs, extents_of(rects), arithmetic);
}

std::int64_t chain_device_bytes(const Chain& chain, const std::vector<ImageSpec>& specs,
                                const std::vector<Extent>& needed, Arithmetic arithmetic) {
  return steps_bytes(fused_steps(chain, specs, arithmetic), chain, specs, needed, Scratch::device,
                     arithmetic);
}

std::int64_t gather_scratch_bytes(const Chain& chain, const std::vector<ImageSpec>& specs,
                                  const std::vector<Rect>& outputs) {
  const ImageSpec& source = specs.front();
  const auto gathered = [&](const Rect& output) {
    const Rect needed = needed_rects(chain, specs, output).front();
    return Rect::whole(source.extent).contains(needed)
               ? 0
               : Arena::view_bytes(needed.extent(), source.channels, source.type);
  };
  if (gathered(Rect::whole(specs.back().extent)) == 0) return 0;
  std::int64_t max_bytes = 0;
  for (const Rect& output : outputs) max_bytes = std::max(max_bytes, gathered(output));
  return max_bytes;
}

double tile_operations(const Chain& chain, const std::vector<ImageSpec>& specs, Extent tile,
                       Scratch scratch) {
  const std::vector<Rect> rects = needed_rects(chain, specs, middle_rect(specs.back().extent, tile));
  double operations = 0;
  for (std::size_t i = 0; i < chain.size(); ++i) {
    // A row pass processes the rows of the input, a column pass those of the output.
    const StageTraits& traits = chain.stages()[i]->traits();
    const Rect& in = rects[i];
    const Rect& out = rects[i + 1];
    const auto width = static_cast<double>(traits.changes_size           ? std::max(in.cols, out.cols)
                                           : traits.halo_work_in_columns ? in.cols
                                                                         : out.cols);
    const auto height = static_cast<double>(traits.changes_size ? std::max(in.rows, out.rows) : out.rows);
    const double pixels = traits.halo_work_fraction * static_cast<double>(in.rows) * width +
                          (1 - traits.halo_work_fraction) * height * static_cast<double>(out.cols);
    operations += chain.stages()[i]->operations_per_element(scratch, specs[i]) * pixels *
                  static_cast<double>(specs[i + 1].channels);
  }
  return operations;
}

namespace {

void compute_part(const TilePath& path, const Chain& chain, const std::vector<ImageSpec>& specs,
                  Arithmetic arithmetic, const ConstRegion& source, const Region& out, Worker& worker) {
  if (path.is_all_missing) return fill_pixels(out.pixels, *path.missing_value);
  const auto copy = [](const ConstPixelView& from, const PixelView& to) { copy_pixels(from, to); };
  for_each_step(
      host_steps(chain, specs, arithmetic, path.first, path.stored_in_place), chain, specs, source, out,
      worker, copy, [&](const Stage& stage, const Step& step, const ConstRegion& in, Region result) {
        result.past_caches = result.past_caches && step.fused_ops.empty();
        if (path.fuses && stage.traits().fuses_nodata)
          return stage.apply_fused(step.first == path.first ? path.mark : nullptr,
                                   step.fused_ops.empty() ? nullptr : step.fused_ops.data(), in, result,
                                   arithmetic, worker);
        stage.apply(in, result, arithmetic, worker);
        if (!step.fused_ops.empty())
          store_missing_in_place(chain.stages()[step.end() - 1]->traits(), result.pixels, arithmetic);
      });
}

}  // namespace

void compute_tile(const Chain& chain, const std::vector<ImageSpec>& specs, Arithmetic arithmetic,
                  const ConstRegion& source, const Region& out, Worker& worker) {
  if (chain.empty()) {
    const ConstPixelView pixels = source.crop(out.rect).pixels;
    return pointwise_host({}, pixels, pixels, out.pixels, arithmetic);
  }
  const std::vector<Rect> needed = needed_rects(chain, specs, out.rect);
  const TilePath path = choose_tile_path(chain, specs, source, needed);
  const std::vector<Rect> parts = split_mixed_tile(out.rect, needed.front().extent());
  // Parts of a periodic image may need other pixels than the whole tile does.
  const bool splits = path.mixed && std::ranges::all_of(parts, [&](const Rect& part) {
                        return source.rect.contains(source_rect(chain, specs, part));
                      });
  if (!splits) return compute_part(path, chain, specs, arithmetic, source, out, worker);
  for (const Rect& part : parts)
    compute_part(choose_tile_path(chain, specs, source, needed_rects(chain, specs, part)), chain, specs,
                 arithmetic, source, out.crop(part), worker);
}

void enqueue_chain(const Chain& chain, const std::vector<ImageSpec>& specs, Arithmetic arithmetic,
                   const ConstRegion& source, const Region& out, Arena& arena, DeviceStream stream) {
  if (chain.empty()) {
    const ConstPixelView pixels = source.crop(out.rect).pixels;
    return pointwise_cuda({}, pixels, pixels, out.pixels, arithmetic, stream);
  }
  const auto copy = [&](const ConstPixelView& from, const PixelView& to) { copy_pixels(from, to, stream); };
  for_each_step(fused_steps(chain, specs, arithmetic), chain, specs, source, out, arena, copy,
                [&](const Stage& stage, const Step& step, const ConstRegion& in, const Region& result) {
                  stage.enqueue(in, result, arithmetic, arena, stream, step.fused_ops);
                });
}

Rect source_rect(const Chain& chain, const std::vector<ImageSpec>& specs, const Rect& output) {
  return needed_rects(chain, specs, output).front();
}

Rect Chain::input_for(const Rect& output, const ImageSpec& source) const {
  return source_rect(*this, specs(source), output);
}

}  // namespace sepconv
