#include "core/view_check.hpp"

#include <fmt/format.h>

#include <limits>

#include "core/error.hpp"

namespace sepconv {
namespace {

/// The product of positive numbers; 0 if it does not fit in 64 bits.
std::int64_t product(std::int64_t a, std::int64_t b) {
  return a > 0 && b <= std::numeric_limits<std::int64_t>::max() / a ? a * b : 0;
}

bool overlap(const ConstPixelView& a, const ConstPixelView& b) {
  const auto begin = [](const ConstPixelView& view) { return reinterpret_cast<std::uintptr_t>(view.data); };
  const auto end = [&](const ConstPixelView& view) {
    return begin(view) +
           static_cast<std::uintptr_t>((view.extent.rows - 1) * view.pitch_bytes + view.row_bytes());
  };
  if (end(a) <= begin(b) || end(b) <= begin(a)) return false;
  if (a.pitch_bytes != b.pitch_bytes) return true;
  const std::int64_t pitch = a.pitch_bytes;
  const auto distance =
      static_cast<std::int64_t>(begin(b) - begin(a));  // may wrap around, to a negative number
  const std::int64_t shift = ((distance % pitch) + pitch) % pitch;
  return shift < a.row_bytes() || shift + b.row_bytes() > pitch;
}

}  // namespace

void check_image(std::string_view name, const ImageSpec& spec) {
  if (spec.extent.empty() || spec.channels < 1) {
    throw InvalidArgument(fmt::format("{} has {} rows, {} columns and {} channels; give an image with pixels",
                                      name, spec.extent.rows, spec.extent.cols, spec.channels));
  }
  if (product(product(product(spec.extent.rows, spec.extent.cols), spec.channels), size_of(spec.type)) == 0) {
    throw InvalidArgument(
        fmt::format("{} has {} rows, {} columns and {} channels, whose bytes do not fit in 64 bits; give a "
                    "smaller image",
                    name, spec.extent.rows, spec.extent.cols, spec.channels));
  }
}

void check_view(std::string_view name, const ConstPixelView& view) {
  check_image(name, {view.extent, view.channels, view.type});
  if (view.data == nullptr)
    throw InvalidArgument(fmt::format("{} is a null pointer; give the memory of its pixels", name));
  const std::int64_t element_bytes = size_of(view.type);
  const bool aligned =
      reinterpret_cast<std::uintptr_t>(view.data) % static_cast<std::uintptr_t>(element_bytes) == 0 &&
      view.pitch_bytes % element_bytes == 0;
  if (view.pitch_bytes < view.row_bytes() || product(view.extent.rows, view.pitch_bytes) == 0 || !aligned) {
    throw InvalidArgument(
        fmt::format("{} has a pitch of {} bytes from {}; rows take {} bytes and start at multiples of {}",
                    name, view.pitch_bytes, fmt::ptr(view.data), view.row_bytes(), element_bytes));
  }
}

void check_apart(std::string_view name, const ConstPixelView& view, std::string_view other_name,
                 const ConstPixelView& other) {
  if (overlap(view, other))
    throw InvalidArgument(fmt::format("{} and {} overlap; give each separate memory", name, other_name));
}

}  // namespace sepconv
