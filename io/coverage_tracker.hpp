// Counts the pixels that a writer has received, so that no incomplete file is finished.
#pragma once

#include <fmt/format.h>

#include <atomic>
#include <string_view>

#include "core/error.hpp"
#include "core/geometry.hpp"

namespace sepconv {

/// Thread-safe. Rectangles that are written twice count twice.
class CoverageTracker {
 public:
  void add(const Rect& rect) noexcept { add_pixels(rect.extent().area()); }
  void add_pixels(std::int64_t pixels) noexcept { pixels_ += pixels; }

  /// Throws IoError if fewer pixels were written than the image has.
  void check_coverage(Extent image, std::string_view name) const {
    if (const std::int64_t pixels = pixels_; pixels < image.area())
      throw IoError(
          fmt::format("{} is not finished: {} of its {} pixels were written; write the others before", name,
                      pixels, image.area()));
  }

 private:
  std::atomic<std::int64_t> pixels_ = 0;
};

}  // namespace sepconv
