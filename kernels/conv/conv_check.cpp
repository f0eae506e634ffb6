#include "kernels/conv/conv_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "core/error.hpp"

namespace sepconv {
namespace {

void check_taps(std::string_view pass, const std::vector<double>& taps) {
  if (!taps.empty() && taps.size() % 2 == 0) {
    throw InvalidArgument(fmt::format("{} pass has {} taps: give an odd number, so that one is in the middle",
                                      pass, taps.size()));
  }
  if (!std::all_of(taps.begin(), taps.end(), [](double tap) { return std::isfinite(tap); })) {
    throw InvalidArgument(fmt::format("{} pass has a tap that is NaN or infinite: give finite taps", pass));
  }
}

}  // namespace

void check_convolution(const SeparableTaps& taps, const ConstRegion& in, const Region& out) {
  check_taps("row", taps.row);
  check_taps("column", taps.col);
  if (in.pixels.channels != out.pixels.channels) {
    throw InvalidArgument(fmt::format("convolution of {} channels cannot produce {}: give the same number",
                                      in.pixels.channels, out.pixels.channels));
  }
  const Rect needed = out.rect.grown(taps.col_radius(), taps.row_radius()).intersect(Rect::whole(out.image));
  if (in.image != out.image || !in.rect.contains(needed) || !Rect::whole(out.image).contains(out.rect) ||
      in.pixels.extent != in.rect.extent() || out.pixels.extent != out.rect.extent()) {
    throw InvalidArgument(fmt::format("convolution of {} needs the input's {} but was given {}",
                                      to_string(out.rect), to_string(needed), to_string(in.rect)));
  }
}

void check_wrapped(const SeparableTaps& taps, const Border& border, const Region& out) {
  const Rect needed = out.rect.grown(taps.col_radius(), taps.row_radius());
  if (border.mode == BorderMode::wrap && !Rect::whole(out.image).contains(needed)) {
    throw InvalidArgument(
        fmt::format("convolution of {} with border=wrap needs {}, beyond the image's edges: give an image "
                    "that holds them",
                    to_string(out.rect), to_string(needed)));
  }
}

}  // namespace sepconv
