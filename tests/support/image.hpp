// Images for tests: owned pixels, filled with a seeded pattern or with poison, and compared byte for byte.
#pragma once

#include <cstring>
#include <memory>

#include "core/memory.hpp"
#include "io/memory_image.hpp"
#include "io/test_pattern.hpp"

namespace sepconv::test {

/// Densely packed pixels of a spec.
class Image {
 public:
  explicit Image(const ImageSpec& spec) : spec_(spec), pixels_(spec.bytes()) { poison(); }

  static Image of_pattern(const ImageSpec& spec, Pattern pattern, std::uint64_t seed) {
    Image image(spec);
    SerialExecutor executor;
    make_pattern_reader(spec, pattern, seed)->read(Rect::whole(spec.extent), image.view(), executor);
    return image;
  }

  const ImageSpec& spec() const noexcept { return spec_; }
  PixelView view() const noexcept { return dense_view(pixels_.data(), spec_); }
  std::unique_ptr<Reader> reader() const { return make_memory_reader(view()); }
  std::unique_ptr<Writer> writer() const { return make_memory_writer(view()); }

  /// Fills all pixels with 0xA5, so that unwritten pixels are detected.
  void poison() noexcept { std::memset(pixels_.data(), 0xA5, static_cast<std::size_t>(pixels_.size())); }

  friend bool operator==(const Image& a, const Image& b) {
    return a.spec_ == b.spec_ &&
           std::memcmp(a.pixels_.data(), b.pixels_.data(), static_cast<std::size_t>(a.pixels_.size())) == 0;
  }

 private:
  ImageSpec spec_;
  Buffer pixels_;
};

}  // namespace sepconv::test
