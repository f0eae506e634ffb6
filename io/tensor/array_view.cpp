#include "io/tensor/array_view.hpp"

#include <algorithm>
#include <cstring>

#include "core/memory.hpp"

namespace sepconv {
namespace {

/// Maps between the rectangles of an image and those of its grid.
struct GridMap {
  TensorGrid grid;
  ImageSpec image;

  ImageSpec spec() const {
    if (grid == TensorGrid::spread)
      return {{image.extent.rows, image.extent.cols * image.channels}, 1, image.type};
    if (grid == TensorGrid::lines)
      return {{image.extent.rows * image.extent.cols, image.channels}, 1, image.type};
    return image;
  }

  Extent block(Extent image_block) const {
    if (grid == TensorGrid::spread) return {image_block.rows, image_block.cols * image.channels};
    if (grid == TensorGrid::lines) return {image_block.rows * image.extent.cols, image.channels};
    return image_block;
  }

  /// The pixels that contain the elements of `rect`, a rectangle of the grid.
  Rect pixels(const Rect& rect) const {
    if (grid == TensorGrid::image) return rect;
    if (grid == TensorGrid::spread) {
      const std::int64_t begin = rect.col / image.channels;
      return {rect.row, begin, rect.rows, ceil_div(rect.col_end(), image.channels) - begin};
    }
    const std::int64_t width = image.extent.cols;
    const std::int64_t first = rect.row / width;
    const std::int64_t last = (rect.row_end() - 1) / width;
    if (first == last) return {first, rect.row - first * width, 1, rect.rows};
    return {first, 0, last + 1 - first, width};
  }

  /// Whether `view` of `rect` contains exactly the elements of pixels(rect), in their order. The image can
  /// then be read or written through as_pixels(rect, view).
  template <class View>
  bool matches(const Rect& rect, const View& view) const {
    if (grid == TensorGrid::image) return true;
    if (grid == TensorGrid::spread) return rect.col % image.channels == 0 && rect.cols % image.channels == 0;
    return pixels(rect).area() == rect.rows && rect.cols == image.channels && view.contiguous();
  }

  /// `view`, which has one channel, reinterpreted as a view of pixels(rect).
  template <class View>
  View as_pixels(const Rect& rect, const View& view) const {
    if (grid == TensorGrid::image) return view;
    const Extent extent = pixels(rect).extent();
    const std::int64_t pitch =
        grid == TensorGrid::spread ? view.pitch_bytes : extent.cols * image.pixel_bytes();
    return {view.data, extent, image.channels, image.type, pitch};
  }
};

constexpr std::int64_t kBounceBytes = std::int64_t{1} << 20;

class GridReader final : public Reader {
 public:
  GridReader(std::unique_ptr<Reader> image, TensorGrid grid)
      : image_(std::move(image)), map_{grid, image_->spec()}, spec_(map_.spec()), layout_(image_->layout()) {
    if (grid == TensorGrid::lines) {  // grid rows may begin and end inside an image row
      layout_.block = layout_.unit();
      layout_.partial_blocks = false;
    }
    layout_.block = map_.block(layout_.block);
    layout_.file.reset();  // the file layout does not describe this view of the image
    layout_.coded.reset();
  }

  const ImageSpec& spec() const noexcept override { return spec_; }
  const SourceLayout& layout() const noexcept override { return layout_; }
  const Metadata& metadata() const noexcept override { return image_->metadata(); }
  std::int64_t stored_bytes() const noexcept override { return image_->stored_bytes(); }
  std::int64_t changed_ns() const noexcept override { return image_->changed_ns(); }
  std::int64_t buffer_bytes(int concurrency) const override {
    return image_->buffer_bytes(concurrency) + std::max(kBounceBytes, image_->spec().row_bytes());
  }

  void read(const Rect& rect, const PixelView& out, Executor& executor) override {
    if (map_.matches(rect, out)) return image_->read(map_.pixels(rect), map_.as_pixels(rect, out), executor);
    const Rect pixels = map_.pixels(rect);
    const std::int64_t rows_per_read =
        std::max<std::int64_t>(1, kBounceBytes / (pixels.cols * image_->spec().pixel_bytes()));
    for (std::int64_t row = pixels.row; row < pixels.row_end(); row += rows_per_read) {
      const Rect part{row, pixels.col, std::min(rows_per_read, pixels.row_end() - row), pixels.cols};
      const ImageSpec spec{part.extent(), image_->spec().channels, spec_.type};
      const Buffer bounce(spec.bytes());
      const PixelView view = dense_view(bounce.data(), spec);
      image_->read(part, view, executor);
      copy_elements(part, view, rect, out);
    }
  }

 private:
  /// Copies the elements of `rect` that are among the pixels of `part`.
  void copy_elements(const Rect& part, const PixelView& pixels, const Rect& rect,
                     const PixelView& out) const {
    const std::int64_t channels = image_->spec().channels;
    const auto element_bytes = size_of(spec_.type);
    if (map_.grid == TensorGrid::spread) {
      for (std::int64_t row = 0; row < part.rows; ++row) {
        std::memcpy(out.row_data(part.row + row - rect.row),
                    pixels.row_data(row) + (rect.col - part.col * channels) * element_bytes,
                    static_cast<std::size_t>(out.row_bytes()));
      }
      return;
    }
    for (std::int64_t row = 0; row < part.rows; ++row) {
      for (std::int64_t col = 0; col < part.cols; ++col) {
        const std::int64_t line = (part.row + row) * image_->spec().extent.cols + part.col + col;
        if (line < rect.row || line >= rect.row_end()) continue;
        std::memcpy(out.row_data(line - rect.row),
                    pixels.row_data(row) + (col * channels + rect.col) * element_bytes,
                    static_cast<std::size_t>(out.row_bytes()));
      }
    }
  }

  std::unique_ptr<Reader> image_;
  GridMap map_;
  ImageSpec spec_;
  SourceLayout layout_;
};

class GridWriter final : public Writer {
 public:
  GridWriter(std::unique_ptr<Writer> image, TensorGrid grid)
      : image_(std::move(image)), map_{grid, image_->spec()}, spec_(map_.spec()), layout_(image_->layout()) {
    if (grid == TensorGrid::lines) {
      // A grid row is a pixel, so only whole image rows are rectangles of both.
      const Extent extent = image_->spec().extent;
      layout_.block = {std::min(layout_.block.rows, extent.rows), extent.cols};
      layout_.partial_blocks = false;
    }
    layout_.block = map_.block(layout_.block);
    layout_.coded.reset();
  }

  const ImageSpec& spec() const noexcept override { return spec_; }
  const SinkLayout& layout() const noexcept override { return layout_; }
  std::int64_t buffer_bytes(int concurrency) const override { return image_->buffer_bytes(concurrency); }
  void write(const Rect& rect, const ConstPixelView& in, Executor& executor) override {
    image_->write(map_.pixels(rect), map_.as_pixels(rect, in), executor);
  }
  void prepare_finish() override { image_->prepare_finish(); }
  void finish() override { image_->finish(); }

 private:
  std::unique_ptr<Writer> image_;
  GridMap map_;
  ImageSpec spec_;
  SinkLayout layout_;
};

}  // namespace

std::unique_ptr<Reader> make_grid_reader(std::unique_ptr<Reader> image, TensorGrid grid) {
  if (grid == TensorGrid::image) return image;
  return std::make_unique<GridReader>(std::move(image), grid);
}

std::unique_ptr<Writer> make_grid_writer(std::unique_ptr<Writer> image, TensorGrid grid) {
  if (grid == TensorGrid::image) return image;
  return std::make_unique<GridWriter>(std::move(image), grid);
}

}  // namespace sepconv
