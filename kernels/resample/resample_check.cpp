#include "kernels/resample/resample_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.hpp"

namespace sepconv {
namespace {

bool is_whole(const Rect& rect, const ConstPixelView& pixels, Extent image) {
  return pixels.extent == rect.extent() && Rect::whole(image).contains(rect);
}

ResampleWindow available_on_axis(const ResampleWindow& positions, std::int64_t size, BorderMode border) {
  const std::int64_t first = positions.first, last = first + positions.count - 1, end = size - 1;
  if (border == BorderMode::wrap && (first < 0 || last > end)) return {0, size};
  std::int64_t low = std::clamp<std::int64_t>(first, 0, end), high = std::clamp<std::int64_t>(last, 0, end);
  if (border != BorderMode::constant) {
    if (first < 0) low = 0, high = std::max(high, std::min(end, -first));
    if (last > end) low = std::min(low, std::max<std::int64_t>(0, 2 * end - last)), high = end;
  }
  return {low, high - low + 1};
}

}  // namespace

Rect resample_input(const Resampling& resampling, const Rect& out) {
  const auto end = [](const ResampleAxis& axis, std::int64_t i) {
    const ResampleWindow window = resample_window(axis, i);
    return window.first + window.count;
  };
  const std::int64_t row = resample_window(resampling.down, out.row).first;
  const std::int64_t col = resample_window(resampling.across, out.col).first;
  return {row, col, end(resampling.down, out.row_end() - 1) - row,
          end(resampling.across, out.col_end() - 1) - col};
}

Rect held_pixels(const Rect& positions, Extent image, BorderMode border) {
  const ResampleWindow rows = available_on_axis({positions.row, positions.rows}, image.rows, border);
  const ResampleWindow cols = available_on_axis({positions.col, positions.cols}, image.cols, border);
  return {rows.first, cols.first, rows.count, cols.count};
}

Rect resample_source_rect(const Resampling& resampling, const Rect& out) {
  const Rect needed = resample_input(resampling, out);
  if (!resampling.border) return needed;
  return held_pixels(needed, {resampling.down.from, resampling.across.from}, resampling.border->mode);
}

void check_resampling(const Resampling& resampling, const ConstRegion& in, const Region& out) {
  const ResampleAxis &down = resampling.down, &across = resampling.across;
  if (in.pixels.channels != out.pixels.channels || in.image != Extent{down.from, across.from} ||
      out.image != Extent{down.to, across.to}) {
    throw InvalidArgument(
        fmt::format("resampling {} x {} pixels to {} x {} was given an image of {} x {} with {} channels for "
                    "one of {} x {} with {}",
                    across.from, down.from, across.to, down.to, in.image.cols, in.image.rows,
                    in.pixels.channels, out.image.cols, out.image.rows, out.pixels.channels));
  }
  if (!is_whole(in.rect, in.pixels, in.image) || !is_whole(out.rect, out.pixels, out.image) ||
      (!out.rect.empty() && !in.rect.contains(resample_source_rect(resampling, out.rect)))) {
    throw InvalidArgument(
        fmt::format("resampling of {} needs the input's {} but was given {}", to_string(out.rect),
                    to_string(resample_source_rect(resampling, out.rect)), to_string(in.rect)));
  }
}

std::int64_t resample_max_pixels(const ResampleAxis& axis, std::int64_t count) {
  if (axis.is_identity()) return count;
  const double pixels = static_cast<double>(count - 1) * axis.scale + 2 * resample_radius(axis);
  // Gaussian windows begin and end anywhere, also beyond the input.
  if (axis.filter == ResampleFilter::gaussian) return static_cast<std::int64_t>(pixels) + 2;
  // Windows of whole scales begin at whole pixels; others begin and end anywhere.
  const double extra = axis.scale == std::floor(axis.scale) ? 0 : 2;
  return static_cast<std::int64_t>(std::min(static_cast<double>(axis.from), std::floor(pixels) + extra));
}

std::int64_t resample_device_bytes(const Resampling& resampling, Extent out, std::int64_t channels,
                                   Arithmetic arithmetic) {
  const PixelType type = pixel_type_of(arithmetic);
  const auto table_bytes = [&](const ResampleAxis& axis, std::int64_t count) {
    return Arena::bytes_for(count * static_cast<std::int64_t>(sizeof(ResampleWindow))) +
           Arena::bytes_for(count * resample_max_taps(axis) * size_of(type));
  };
  const Extent needed{resample_max_pixels(resampling.down, out.rows),
                      resample_max_pixels(resampling.across, out.cols)};
  const bool needs_copy = resampling.read.kind != PointwiseOp::Kind::copy;
  const Extent between =
      resampling.columns_first ? Extent{out.rows, needed.cols} : Extent{needed.rows, out.cols};
  return table_bytes(resampling.down, out.rows) + table_bytes(resampling.across, out.cols) +
         Arena::view_bytes(between, channels, type) +
         (needs_copy ? Arena::view_bytes(needed, channels, type) : 0);
}

}  // namespace sepconv
