// Checks the result of a benchmark in windows that cross every band.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/error.hpp"
#include "core/memory.hpp"
#include "pipeline/run/apply.hpp"
#include "runs.hpp"

namespace sepconv::app {

namespace {

constexpr std::int64_t kStrip = 8;    // pixels across
constexpr std::int64_t kCorner = 96;  // pixels along each side

std::vector<Rect> windows_of(Extent image) {
  const std::int64_t rows = std::min(image.rows, kCorner), cols = std::min(image.cols, kCorner);
  const std::int64_t last_row = image.rows - rows, last_col = image.cols - cols;
  std::vector<Rect> windows{{0, 0, rows, cols},
                            {0, last_col, rows, cols},
                            {last_row, 0, rows, cols},
                            {last_row, last_col, rows, cols}};
  windows.push_back({0, image.cols / 2, image.rows, std::min(kStrip, image.cols - image.cols / 2)});
  windows.push_back({image.rows / 2, 0, std::min(kStrip, image.rows - image.rows / 2), image.cols});
  return windows;
}

/// Owns densely packed pixels.
struct Pixels {
  Pixels(Extent extent, const ImageSpec& like)
      : memory(extent.area() * like.pixel_bytes()), view(dense_view(memory.data(), like, extent)) {}
  Buffer memory;
  PixelView view;
};

Pixels read_window(Reader& reader, const Rect& rect) {
  Pixels pixels(rect.extent(), reader.spec());
  SerialExecutor executor;
  reader.read(rect, pixels.view, executor);
  return pixels;
}

bool equal(const ConstPixelView& a, const ConstPixelView& b) {
  for (std::int64_t row = 0; row < a.extent.rows; ++row) {
    if (std::memcmp(a.row_data(row), b.row_data(row), static_cast<std::size_t>(a.row_bytes())) != 0)
      return false;
  }
  return true;
}

/// The window of the result, computed by the host engine.
Pixels expected_window(const Chain& chain, Reader& source, const Rect& window) {
  const ImageSpec from = source.spec(), to = chain.result_spec(from);
  const Rect needed = chain.input_for(window, from);
  const Pixels in = read_window(source, needed);
  Pixels out(window.extent(), to);
  apply(chain, {in.view, needed, from.extent}, {out.view, window, to.extent});
  return out;
}

}  // namespace

void check_windows(const Chain& chain, Reader& source, Reader& result) {
  for (const Rect& window : windows_of(result.spec().extent)) {
    const Pixels expected = expected_window(chain, source, window);
    const Pixels found = read_window(result, window);
    if (!equal(found.view, expected.view)) {
      throw Error(
          fmt::format("the result differs from the host engine's in {}; report this, its rates mean nothing",
                      to_string(window)));
    }
  }
}

void poison_windows(const PixelView& result) {
  for (const Rect& window : windows_of(result.extent)) {
    const PixelView view = result.crop(window);
    for (std::int64_t row = 0; row < window.rows; ++row) {
      std::memset(view.row_data(row), 0xA5, static_cast<std::size_t>(view.row_bytes()));
    }
  }
}

}  // namespace sepconv::app
