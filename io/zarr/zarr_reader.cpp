#include "io/zarr/zarr_reader.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "io/encoded_blocks.hpp"
#include "io/sample_conversion.hpp"

namespace sepconv {
namespace {

/// The size of an image and of a block along one axis.
struct Side {
  std::int64_t length = 1;  ///< of the image
  std::int64_t block = 1;   ///< elements of a block
  std::int64_t step = 0;    ///< stride in a block, in elements
};

class ZarrReader final : public Reader, private EncodedReader {
 public:
  ZarrReader(std::shared_ptr<ZarrSource> source, const ZarrAxes& axes,
             const std::vector<std::int64_t>& position, SourceLayout layout, Metadata metadata)
      : source_(std::move(source)),
        axes_(axes),
        spec_(zarr_image(array(), axes)),
        layout_(std::move(layout)),
        metadata_(std::move(metadata)),
        first_(array().shape.size()) {
    const ZarrShape steps = array().block_steps();
    const auto side = [&](int axis) {
      const auto i = static_cast<std::size_t>(axis);
      return axis < 0 ? Side{} : Side{array().shape[i], array().block()[i], steps[i]};
    };
    rows_ = side(axes.row), cols_ = side(axes.col), channels_ = side(axes.channel);
    for (std::size_t i = 0; i < axes.others.size(); ++i) {
      const auto axis = static_cast<std::size_t>(axes.others[i]);
      first_[axis] = position[i] / array().block()[axis];
      blocks_span_images_ |= std::min(array().block()[axis], array().shape[axis]) > 1;
      offset_ += position[i] % array().block()[axis] * steps[axis];
    }
  }

  const ImageSpec& spec() const noexcept override { return spec_; }
  const SourceLayout& layout() const noexcept override { return layout_; }
  const Metadata& metadata() const noexcept override { return metadata_; }
  std::int64_t buffer_bytes(int concurrency) const override { return source_->memory_bytes(concurrency); }
  std::int64_t changed_ns() const noexcept override { return source_->store().changed_ns(); }
  std::int64_t stored_bytes() const noexcept override {
    return array().type.bytes_of(spec_.extent.area() * channels_.length);
  }

  EncodedReader* encoded() noexcept override { return layout_.coded ? this : nullptr; }

  SharedBlocks shared_blocks() const noexcept override {
    if (!blocks_span_images_) return {};
    return {grid_rows() * grid_cols() * cached_stack_bytes(), grid_cols() * cached_stack_bytes()};
  }

  // Caches the blocks at the common edge of successive bands, or, if blocks contain several images, all
  // blocks of the image.
  void set_cache_budget(std::int64_t bytes) override {
    const std::int64_t all = grid_rows() * grid_cols(), capacity = bytes / cached_stack_bytes();
    const std::int64_t edge = std::min<std::int64_t>(grid_rows(), 2) * grid_cols();
    source_->set_cache_bytes((blocks_span_images_ && capacity >= all ? all : std::min(capacity, edge)) *
                             cached_stack_bytes());
  }

  // A task reads all channels of its pixels, because threads that write adjacent channels would share cache
  // lines.
  void read(const Rect& rect, const PixelView& out, Executor& executor) override {
    const std::int64_t top = rect.row / rows_.block, left = rect.col / cols_.block;
    const std::int64_t grid_rows = ceil_div(rect.row_end(), rows_.block) - top;
    const std::int64_t grid_cols = ceil_div(rect.col_end(), cols_.block) - left;
    executor.for_each(grid_rows * grid_cols, [&](std::int64_t task, int) {
      const std::int64_t row = top + task / grid_cols, col = left + task % grid_cols;
      const Rect part = Rect{row * rows_.block, col * cols_.block, rows_.block, cols_.block}.intersect(rect);
      const PixelView to = out.crop({part.row - rect.row, part.col - rect.col, part.rows, part.cols});
      for (std::int64_t first = 0; first < channels_.length; first += channels_.block)
        read_block({row, col}, first, part, to);
    });
  }

 private:
  const ZarrArray& array() const noexcept { return source_->array(); }
  std::int64_t grid_rows() const noexcept { return ceil_div(rows_.length, rows_.block); }
  std::int64_t grid_cols() const noexcept { return ceil_div(cols_.length, cols_.block); }
  /// The cached bytes of all blocks that contain the channels of the same pixels.
  std::int64_t cached_stack_bytes() const noexcept {
    return ceil_div(channels_.length, channels_.block) * source_->cached_block_bytes();
  }

  std::int64_t encoded_bytes(std::int64_t grid_row, std::int64_t grid_col) override {
    return source_->stored_bytes(position_of({grid_row, grid_col}, 0));
  }
  void read_encoded(std::int64_t grid_row, std::int64_t grid_col, std::span<std::byte> to) override {
    source_->read_stored(position_of({grid_row, grid_col}, 0), to);
  }

  ZarrShape position_of(const Extent& at, std::int64_t channel) const {
    ZarrShape position = first_;
    const auto put = [&](int axis, std::int64_t index) {
      if (axis >= 0) position[static_cast<std::size_t>(axis)] = index;
    };
    put(axes_.row, at.rows), put(axes_.col, at.cols), put(axes_.channel, channel / channels_.block);
    return position;
  }

  void read_block(const Extent& at, std::int64_t channel, const Rect& part, const PixelView& out) {
    const ZarrShape position = position_of(at, channel);
    const Extent block_extent{std::min(rows_.block, rows_.length - at.rows * rows_.block),
                              std::min(cols_.block, cols_.length - at.cols * cols_.block)};
    const auto block = source_->block(position, blocks_span_images_ || part.extent() != block_extent);
    if (!block) return copy(array().fill.data(), {0, 0, 0}, channel, part, out);
    const std::int64_t first = offset_ + (part.row - at.rows * rows_.block) * rows_.step +
                               (part.col - at.cols * cols_.block) * cols_.step;
    copy(block->data() + array().type.bytes_of(first), {rows_.step, cols_.step, channels_.step}, channel,
         part, out);
  }

  /// Converts elements to pixels. `steps`: strides of rows, columns and channels, in elements.
  void copy(const std::byte* from, const std::array<std::int64_t, 3>& steps, std::int64_t channel,
            const Rect& part, const PixelView& out) const {
    const SampleType type = array().type;
    const std::int64_t count = std::min(channels_.block, channels_.length - channel);
    const bool dense = count == channels_.length && (steps[2] == 1 || count == 1) && steps[1] == count;
    for (std::int64_t row = 0; row < part.rows; ++row) {
      const std::byte* const line = from + type.bytes_of(row * steps[0]);
      std::byte* const to = out.row_data(row) + channel * type.parts() * size_of(out.type);
      if (dense) {
        load_row(line, 1, part.cols * count, to, type.parts(), part, row, 0);
        continue;
      }
      for (std::int64_t i = 0; i < count; ++i)
        load_row(line + type.bytes_of(i * steps[2]), steps[1], part.cols,
                 to + i * type.parts() * size_of(out.type), out.channels, part, row, channel + i);
    }
  }

  void load_row(const std::byte* from, std::int64_t step, std::int64_t count, std::byte* to,
                std::int64_t to_step, const Rect& part, std::int64_t row, std::int64_t channel) const {
    const std::int64_t done = load_elements(array().type, {from, step}, count, to, to_step);
    if (done == count) return;
    const std::int64_t per_pixel = count / part.cols;
    throw_unrepresentable(source_->name(), array().type, part.row + row, part.col + done / per_pixel,
                          channel + done % per_pixel);
  }

  std::shared_ptr<ZarrSource> source_;
  ZarrAxes axes_;
  ImageSpec spec_;
  SourceLayout layout_;
  Metadata metadata_;
  Side rows_, cols_, channels_;
  ZarrShape first_;                  ///< position of the image's first block
  std::int64_t offset_ = 0;          ///< of the image in a block, in elements
  bool blocks_span_images_ = false;  ///< blocks contain several images
};

}  // namespace

std::unique_ptr<Reader> make_zarr_reader(std::shared_ptr<ZarrSource> source, const ZarrAxes& axes,
                                         std::vector<std::int64_t> position, SourceLayout layout,
                                         Metadata metadata) {
  return std::make_unique<ZarrReader>(std::move(source), axes, position, std::move(layout),
                                      std::move(metadata));
}

}  // namespace sepconv
