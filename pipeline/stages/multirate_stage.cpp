#include "pipeline/stages/multirate_stage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/pointwise/missing.hpp"
#include "pipeline/stages/execution_backends.hpp"
#include "pipeline/stages/f32_range.hpp"
#include "pipeline/stages/neighbourhood.hpp"
#include "pipeline/stages/normalized_convolution.hpp"

namespace sepconv {
namespace {

using Kind = PointwiseOp::Kind;
using Range = MultirateSide::Range;

std::string note_of(const Multirate& filter, double operations) {
  const double rows = filter.down.worst_error();
  const double cols = filter.across.sigma == filter.down.sigma ? rows : filter.across.worst_error();
  return fmt::format(
      "method=multirate: cells of {} x {} pixels, {:.0f} multiply-adds a pixel; its taps differ from the "
      "Gaussian's by at most {:.1e} in all (sum of absolute differences)",
      filter.down.cell, filter.across.cell, operations, rows + cols + rows * cols);
}

StageDeclaration declaration_of(std::string text, const Multirate& filter) {
  const auto& [border, down, across, missing] = filter;
  const double values[] = {border.value};
  // The pass along rows processes only rows of cells.
  const double operations = down.taps() + across.taps() / static_cast<double>(down.cell);
  const double to_cells = down.taps_to_cells() / operations;
  return {
      .text = std::move(text),
      .traits =
          {.work = {.operations_per_element = operations, .halo_fraction = to_cells, .halo_in_columns = true},
           .nan = {.propagates = missing.has_value(), .max_gain = std::max(1.0, std::abs(border.value))}},
      .properties = {.is_complex_linear = border.mode != BorderMode::constant || border.value == 0,
                     .needs_f64 = any_beyond_f32(values),
                     .runs_on_device = true,
                     .device_kernels = DeviceKernels::resampling,
                     .handles_nodata = missing.has_value(),
                     .is_average = true,
                     .note = note_of(filter, operations)}};
}

/// Input and output of one computation, the position of their first row and column in the whole image, and
/// the border.
struct Frame {
  ConstRegion in;
  Region out;
  std::int64_t first_row = 0, first_col = 0;
  Border border;
};

ResampleAxis to_cells(const MultirateSide& side, std::int64_t pixels, std::int64_t first_pixel,
                      const Range& cells) {
  return {pixels,
          cells.count,
          static_cast<double>(side.cell),
          ResampleFilter::gaussian,
          {side.to_cells, side.cell, first_pixel, cells.first}};
}

ResampleAxis from_cells(const MultirateSide& side, std::int64_t pixels, std::int64_t first_pixel,
                        const Range& cells) {
  return {cells.count,
          pixels,
          1 / static_cast<double>(side.cell),
          ResampleFilter::gaussian,
          {side.from_cells, side.cell, first_pixel, cells.first}};
}

/// Two resamplings. To cells: columns first; back: rows first. So passes along rows only process rows of
/// cells.
struct Resamplings {
  Resamplings(const MultirateSide& down, const MultirateSide& across, const Frame& frame) {
    const Range rows = down.cells_of({frame.first_row + frame.out.rect.row, frame.out.rect.rows});
    const Range cols = across.cells_of({frame.first_col + frame.out.rect.col, frame.out.rect.cols});
    cells = {rows.count, cols.count};
    to = {.down = to_cells(down, frame.in.image.rows, frame.first_row, rows),
          .across = to_cells(across, frame.in.image.cols, frame.first_col, cols),
          .columns_first = true,
          .border = frame.border};
    from = {.down = from_cells(down, frame.out.image.rows, frame.first_row, rows),
            .across = from_cells(across, frame.out.image.cols, frame.first_col, cols)};
  }

  Extent cells;
  Resampling to, from;
};

/// Blurs read(input), with `value` beyond a constant border.
template <class Backend>
void blur(const Backend& backend, Resamplings resamplings, const PointwiseOp& read, double value,
          const Frame& frame, const PixelView& out) {
  resamplings.to.read = read;
  resamplings.to.border->value = value;
  const PixelView cells =
      backend.allocate(resamplings.cells, out.channels, pixel_type_of(backend.arithmetic));
  backend.resample(resamplings.to, frame.in, Region::whole(cells));
  backend.resample(resamplings.from, ConstRegion::whole(cells), {out, frame.out.rect, frame.out.image});
}

/// The part of the input needed for `output`, including pixels beyond its edges.
Rect needed_for(const Multirate& filter, const Rect& output) {
  const Range rows = filter.down.pixels_of(filter.down.cells_of({output.row, output.rows}));
  const Range cols = filter.across.pixels_of(filter.across.cells_of({output.col, output.cols}));
  return {rows.first, cols.first, rows.count, cols.count};
}

Frame frame_of(const Multirate& filter, const ConstRegion& source, const Region& result) {
  const Rect needed = needed_for(filter, result.rect);
  const auto [in, out] = as_separate_image(filter.border.mode, needed, source, result);
  if (filter.border.mode != BorderMode::wrap) return {in, out, 0, 0, filter.border};
  return {in, out, needed.row, needed.col, {BorderMode::constant, 0}};
}

/// `renormalises`: divides weighted sums of valid pixels by their weights.
template <class Backend>
void filter_with(const Backend& backend, const Multirate& filter, bool renormalises, const Frame& frame) {
  const PixelView& out = frame.out.pixels;
  const Resamplings resamplings(filter.down, filter.across, frame);
  if (!renormalises) return blur(backend, resamplings, {}, filter.border.value, frame, out);
  const auto [sums, fraction] =
      normalized_parts(backend, filter.border.value, [&](const PointwiseOp& read, double border) {
        const PixelView part = allocate(backend, frame.out).pixels;
        blur(backend, resamplings, read, border, frame, part);
        return part;
      });
  const bool fills = filter.missing == MissingPolicy::fill;
  backend.pointwise({.kind = Kind::renormalise, .p = 1}, sums, fraction, fills ? out : sums);
  if (!fills)
    backend.pointwise({.kind = Kind::keep_missing}, frame.in.crop(frame.out.rect).pixels, sums, out);
}

}  // namespace

MultirateStage::MultirateStage(std::string text, Multirate filter)
    : Stage(declaration_of(std::move(text), filter)), filter_(filter) {}

Rect MultirateStage::input_for(const Rect& output, const ImageSpec& input) const {
  const Rect needed = needed_for(filter_, output);
  if (filter_.border.mode == BorderMode::wrap) return needed;
  return held_pixels(needed, input.extent, filter_.border.mode);
}

/// An output in the middle that is one cell longer needs at least as much as one at any position relative to
/// the cells.
Extent MultirateStage::max_input_extent(Extent output, const ImageSpec& input) const {
  return Stage::max_input_extent({output.rows + filter_.down.cell - 1, output.cols + filter_.across.cell - 1},
                                 input);
}

StagePtr MultirateStage::with_nodata() const {
  if (filter_.missing) return shared_from_this();
  Multirate ignoring = filter_;
  ignoring.missing = MissingPolicy::ignore;
  return std::make_shared<MultirateStage>(text() + ",nodata=ignore", ignoring);
}

std::int64_t MultirateStage::scratch_bytes(Scratch scratch, Extent output, const ImageSpec& input,
                                           Arithmetic arithmetic) const {
  // At any position these pixels need at most one cell more.
  const auto cells_of = [](const MultirateSide& side, std::int64_t pixels) {
    return Range{0, side.cells_of({0, pixels}).count + 1};
  };
  const Range rows = cells_of(filter_.down, output.rows), cols = cells_of(filter_.across, output.cols);
  const Extent cells{rows.count, cols.count};
  Resampling to{.down = to_cells(filter_.down, filter_.down.pixels_of(rows).count, 0, rows),
                .across = to_cells(filter_.across, filter_.across.pixels_of(cols).count, 0, cols),
                .columns_first = true,
                .border = filter_.border};
  if (filter_.renormalises()) to.read = {.kind = Kind::weight};
  const Resampling from{.down = from_cells(filter_.down, output.rows, 0, rows),
                        .across = from_cells(filter_.across, output.cols, 0, cols)};
  const auto bytes = scratch == Scratch::host ? resample_scratch_bytes : resample_device_bytes;
  const PixelType type = pixel_type_of(arithmetic);
  const std::int64_t results = filter_.renormalises()
                                   ? 3 * (Arena::view_bytes(output, input.channels, type) +
                                          2 * Arena::view_bytes(cells, input.channels, type))
                                   : 0;
  return std::max(bytes(to, cells, input.channels, arithmetic),
                  bytes(from, output, input.channels, arithmetic)) +
         Arena::view_bytes(cells, input.channels, type) + results;
}

void MultirateStage::apply(const ConstRegion& in, const Region& out, Arithmetic arithmetic,
                           Worker& worker) const {
  const Arena::Scope scope(worker);
  const auto is_all_valid = [&] {
    const Rect needed = input_for(out.rect, {in.image, out.pixels.channels, out.pixels.type});
    return find_missing_state(in.crop(needed).pixels, std::numeric_limits<double>::quiet_NaN()) ==
           MissingState::none_missing;
  };
  filter_with(HostBackend{arithmetic, worker}, filter_, filter_.renormalises() && !is_all_valid(),
              frame_of(filter_, in, out));
}

void MultirateStage::apply_reference(const ConstRegion& in, const Region& out, Arithmetic arithmetic) const {
  filter_with(ReferenceBackend{arithmetic}, filter_, filter_.renormalises(), {in, out, 0, 0, filter_.border});
}

void MultirateStage::enqueue(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Arena& arena,
                             DeviceStream stream, const Epilogue& epilogue) const {
  const Arena::Scope scope(arena);
  filter_with(StreamBackend{arithmetic, arena, stream, epilogue.ops, out.pixels.data}, filter_,
              filter_.renormalises(), frame_of(filter_, in, out));
}

}  // namespace sepconv
