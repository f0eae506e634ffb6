// The pixels around each pixel that a stage asks for, and what it is given where an image repeats. Private to
// pipeline/stages.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "core/image.hpp"
#include "kernels/conv/border.hpp"
#include "kernels/sliding_window/window.hpp"

namespace sepconv {

/// What is needed of an image. Every border maps what lies outside it to pixels at most a radius inside, or
/// else to the whole side, so the clipped rectangle holds all that is needed; one that repeats the image is
/// not clipped.
inline Rect within_image(BorderMode border, const Rect& needed, Extent image) noexcept {
  return border == BorderMode::wrap ? needed : needed.intersect(Rect::whole(image));
}

struct Regions {
  ConstRegion in;
  Region out;
};
/// With border=wrap `in` holds what lies beyond the image's edges too: what is needed of it is taken for an
/// image of its own, whose edges nothing reaches.
inline Regions as_own_image(BorderMode border, const Rect& needed, const ConstRegion& in,
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
  Regions as_own_image(const ConstRegion& in, const Region& out) const noexcept {
    return sepconv::as_own_image(border, input_for(out.rect, in.image), in, out);
  }
  /// The part of a region's pixels that `output` is computed from; of as_own_image() that is all of them.
  Rect needed_of(const ConstRegion& in, const Rect& output) const noexcept {
    return border == BorderMode::wrap ? in.rect : input_for(output, in.image);
  }
  /// How large an image kernels may be given.
  Extent largest_image(Extent image) const noexcept {
    return border == BorderMode::wrap ? Extent{kMaxSide, kMaxSide} : image;
  }
  /// For the input, at most, for a result of this extent.
  Extent needed_extent(Extent output, Extent image) const noexcept {
    const Extent most = largest_image(image);
    return {std::min(output.rows + 2 * radius_y, most.rows), std::min(output.cols + 2 * radius_x, most.cols)};
  }

  /// Whether a GPU takes windows of these radii, and about how many operations one costs.
  bool windows_on_device() const noexcept { return std::max(radius_x, radius_y) <= kMaxDeviceWindowRadius; }
  double window_operations() const noexcept {
    const auto width = [](std::int64_t radius) { return std::bit_width(static_cast<std::uint64_t>(radius)); };
    return 4 + width(radius_x) + width(radius_y);
  }
  /// For disks: two for each of their rows.
  double disk_operations() const noexcept { return window_operations() + 4 * static_cast<double>(radius_y); }
};

}  // namespace sepconv
