// Rectangular neighbourhoods of pixels, and their input regions with periodic borders. Private to
// pipeline/stages.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "core/image.hpp"
#include "kernels/conv/border.hpp"
#include "kernels/sliding_window/window.hpp"

namespace sepconv {

/// `needed` restricted to the image. Every border maps outside pixels to pixels within a radius of the edge,
/// or to the whole side, so the clipped rectangle suffices. border=wrap is not clipped.
inline Rect within_image(BorderMode border, const Rect& needed, Extent image) noexcept {
  return border == BorderMode::wrap ? needed : needed.intersect(Rect::whole(image));
}

struct Regions {
  ConstRegion in;
  Region out;
};
/// With border=wrap, `in` contains the pixels beyond the edges, too. The needed part is then treated as a
/// separate image whose edges no window reaches.
inline Regions as_separate_image(BorderMode border, const Rect& needed, const ConstRegion& in,
                                 const Region& out) noexcept {
  if (border != BorderMode::wrap) return {in, out};
  const Rect part{out.rect.row - needed.row, out.rect.col - needed.col, out.rect.rows, out.rect.cols};
  return {ConstRegion::whole(in.crop(needed).pixels), {out.pixels, part, needed.extent(), out.past_caches}};
}

struct Neighbourhood {
  std::int64_t radius_x = 0, radius_y = 0;
  BorderMode border = BorderMode::reflect101;

  Rect input_for(const Rect& output, Extent image) const noexcept {
    return within_image(border, output.grown(radius_y, radius_x), image);
  }
  Regions as_separate_image(const ConstRegion& in, const Region& out) const noexcept {
    return sepconv::as_separate_image(border, input_for(out.rect, in.image), in, out);
  }
  /// The part of `in` that `output` is computed from; after as_separate_image() all of it.
  Rect needed_of(const ConstRegion& in, const Rect& output) const noexcept {
    return border == BorderMode::wrap ? in.rect : input_for(output, in.image);
  }
  /// Maximum image extent passed to kernels.
  Extent largest_image(Extent image) const noexcept {
    return border == BorderMode::wrap ? Extent{kMaxSide, kMaxSide} : image;
  }
  /// Maximum input extent for a result of this extent.
  Extent needed_extent(Extent output, Extent image) const noexcept {
    const Extent max_extent = largest_image(image);
    return {std::min(output.rows + 2 * radius_y, max_extent.rows),
            std::min(output.cols + 2 * radius_x, max_extent.cols)};
  }

  /// Whether windows of these radii run on a GPU, and the approximate operations per element.
  bool windows_on_device() const noexcept { return std::max(radius_x, radius_y) <= kMaxDeviceWindowRadius; }
  double window_operations() const noexcept {
    const auto width = [](std::int64_t radius) { return std::bit_width(static_cast<std::uint64_t>(radius)); };
    return 4 + width(radius_x) + width(radius_y);
  }
  /// Operations per element for disks: two more for each row of the disk.
  double disk_operations() const noexcept { return window_operations() + 4 * static_cast<double>(radius_y); }
};

}  // namespace sepconv
