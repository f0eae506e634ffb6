// Images in memory for tests: seeded random bytes, and reading and writing them by rectangles.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "core/memory.hpp"
#include "io/reader.hpp"
#include "io/writer.hpp"
#include "threaded_executor.hpp"

namespace sepconv {

inline constexpr std::byte kPoison{0xA5};

/// Pixels whose pitch is `padding_bytes` longer than a row. All bytes are initially kPoison.
class TestImage {
 public:
  explicit TestImage(const ImageSpec& spec, std::int64_t padding_bytes = 0)
      : spec_(spec),
        pitch_bytes_(spec.row_bytes() + padding_bytes),
        bytes_(static_cast<std::size_t>(spec.extent.rows * pitch_bytes_), kPoison) {}

  static TestImage random(const ImageSpec& spec, unsigned seed = 1, std::int64_t padding_bytes = 0) {
    TestImage image(spec, padding_bytes);
    std::mt19937 engine(seed);
    for (std::int64_t row = 0; row < spec.extent.rows; ++row) {
      std::generate_n(image.view().row_data(row), spec.row_bytes(),
                      [&] { return static_cast<std::byte>(engine()); });
    }
    return image;
  }

  const ImageSpec& spec() const noexcept { return spec_; }
  PixelView view() noexcept {
    return {bytes_.data(), spec_.extent, spec_.channels, spec_.type, pitch_bytes_};
  }
  ConstPixelView view() const noexcept {
    return {bytes_.data(), spec_.extent, spec_.channels, spec_.type, pitch_bytes_};
  }

  /// Whether the bytes between the rows still have their initial value.
  bool padding_untouched() const {
    for (std::int64_t row = 0; row < spec_.extent.rows; ++row) {
      const std::byte* const end = view().row_data(row) + spec_.row_bytes();
      if (std::any_of(end, end + (pitch_bytes_ - spec_.row_bytes()),
                      [](std::byte byte) { return byte != kPoison; }))
        return false;
    }
    return true;
  }

 private:
  ImageSpec spec_;
  std::int64_t pitch_bytes_;
  std::vector<std::byte> bytes_;
};

/// Compares bits, so equal NaN are equal.
inline bool same_pixels(const ConstPixelView& a, const ConstPixelView& b) {
  if (a.extent != b.extent || a.channels != b.channels || a.type != b.type) return false;
  for (std::int64_t row = 0; row < a.extent.rows; ++row) {
    if (std::memcmp(a.row_data(row), b.row_data(row), static_cast<std::size_t>(a.row_bytes())) != 0)
      return false;
  }
  return true;
}

inline TestImage read_rect(Reader& reader, const Rect& rect, int threads = 3,
                           std::int64_t padding_bytes = 0) {
  TestImage image({rect.extent(), reader.spec().channels, reader.spec().type}, padding_bytes);
  ThreadedExecutor executor(threads);
  reader.read(rect, image.view(), executor);
  return image;
}

inline TestImage read_all(Reader& reader) { return read_rect(reader, Rect::whole(reader.spec().extent)); }

/// Rectangles at the corners, at the edges and inside: single pixels, rows, columns and everything.
inline std::vector<Rect> probing_rects(Extent extent) {
  const auto [rows, cols] = extent;
  return {Rect::whole(extent),
          {0, 0, 1, 1},
          {rows - 1, cols - 1, 1, 1},
          {rows / 2, 0, rows - rows / 2, cols},
          {0, cols / 2, rows, cols - cols / 2},
          {rows / 3, cols / 3, std::max<std::int64_t>(1, rows / 2), std::max<std::int64_t>(1, cols / 2)}};
}

/// Whether reading each of probing_rects() into packed and padded memory gives that part of `expected`.
inline bool reads_everywhere(Reader& reader, const TestImage& expected) {
  for (const Rect& rect : probing_rects(expected.spec().extent)) {
    for (const std::int64_t padding_bytes : {0, 64}) {
      const TestImage part = read_rect(reader, rect, 3, padding_bytes);
      if (!same_pixels(part.view(), expected.view().crop(rect)) || !part.padding_untouched()) return false;
    }
  }
  return true;
}

/// Writes `image` in four rectangles, the last first, and finishes.
inline void write_in_quarters(Writer& writer, const TestImage& image) {
  ThreadedExecutor executor(3);
  const auto [rows, cols] = image.spec().extent;
  const Rect whole = Rect::whole(image.spec().extent);
  for (const Rect& quarter : {Rect{rows / 2, cols / 2, rows, cols}, Rect{rows / 2, 0, rows, cols / 2},
                              Rect{0, cols / 2, rows / 2, cols}, Rect{0, 0, rows / 2, cols / 2}}) {
    const Rect rect = quarter.intersect(whole);
    if (!rect.empty()) writer.write(rect, image.view().crop(rect), executor);
  }
  writer.finish();
}

inline void write_all(Writer& writer, const TestImage& image) {
  ThreadedExecutor executor(3);
  writer.write(Rect::whole(image.spec().extent), image.view(), executor);
  writer.finish();
}

}  // namespace sepconv
