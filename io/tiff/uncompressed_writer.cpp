#include <algorithm>
#include <cstring>

#include "core/memory.hpp"
#include "io/limited_executor.hpp"
#include "io/tiff/tiff_writer.hpp"
#include "io/tiff/uncompressed.hpp"

namespace sepconv {
namespace {

/// In smaller files the padding would be noticeable.
constexpr std::int64_t kMinAlignedBytes = 16 * kPixelAlignment;

class UncompressedWriter final : public TiffWriter {
 public:
  explicit UncompressedWriter(std::unique_ptr<TiffSink> tiff)
      : TiffWriter(std::move(tiff)), format_(directory().block), first_offset_(reserve_pixels()) {}

  void finish() override {
    const Extent grid = directory().grid();
    for (std::int64_t index = 0; sink().has_directory() && index < directory().block_count(); ++index) {
      sink().place(index, directory().stored_rows(index % grid.area() / grid.cols) * format_.row_bytes());
    }
    finish_sink();
  }

  std::int64_t buffer_bytes(int concurrency) const override {
    return sink().memory_bytes() + sink().write_memory_bytes(concurrency) +
           sink().write_threads_bound(concurrency) * scratch_bytes() + alpha_split_bytes(concurrency);
  }

 private:
  /// Reserves space for the pixels; returns their offset.
  std::int64_t reserve_pixels() {
    const std::int64_t bytes = directory().block_bytes();
    return sink().reserve(bytes, bytes >= kMinAlignedBytes ? kPixelAlignment : 1);
  }

  void write_pixels(const Rect& rect, const ConstPixelView& in, Executor& threads) override {
    LimitedExecutor executor(
        threads, sink().begin_writes(write_threads(layout(), spec(), rect.extent(), threads.concurrency())));
    scratch_.resize(std::max(scratch_.size(), static_cast<std::size_t>(executor.concurrency())));
    if (directory().tiled) {
      write_tiles(rect, in, executor);
    } else {
      write_strips(rect, in, executor);
    }
  }

  void write_tiles(const Rect& rect, const ConstPixelView& in, Executor& executor) {
    const Rect tiles = directory().grid_rect(rect);
    executor.for_each(directory().planes() * tiles.area(), [&](std::int64_t task, int worker) {
      const std::int64_t plane = task / tiles.area();
      const std::int64_t grid_row = tiles.row + task % tiles.area() / tiles.cols;
      const std::int64_t grid_col = tiles.col + task % tiles.cols;
      const Rect tile = directory().block_rect(grid_row, grid_col);
      const Rect part = tile.intersect(rect);
      const std::int64_t offset = first_offset_ +
                                  directory().block_index(plane, grid_row, grid_col) * format_.bytes() +
                                  (part.row - tile.row) * format_.row_bytes();
      write_tile_rows(offset, channel_of(plane), worker,
                      in.crop({part.row - rect.row, part.col - rect.col, part.rows, part.cols}));
      if (sink().is_resumable() && part.row_end() == spec().extent.rows)
        clear_tile_rows(offset + part.rows * format_.row_bytes(),
                        format_.extent.rows - (part.row_end() - tile.row), worker);
    });
  }

  /// Writes rows of a tile, as wide as the tile or up to the image's edge. Padding below the image is not
  /// written: a new file has zeros there.
  void write_tile_rows(std::int64_t offset, std::int64_t channel, int worker, const ConstPixelView& in) {
    Buffer& scratch = scratch_of(worker);
    BlockFormat piece = format_;
    for (std::int64_t row = 0; row < in.extent.rows; row += piece.extent.rows) {
      piece.extent.rows = std::min(scratch.size() / format_.row_bytes(), in.extent.rows - row);
      const Extent filled{piece.extent.rows, in.extent.cols};
      copy_to_block(in.crop({row, 0, filled.rows, filled.cols}), format_.type, channel, scratch.data(),
                    format_.row_bytes());
      for (std::int64_t i = 0; format_.has_signed_ab() && i < filled.rows; ++i)
        shift_ab(format_, channel, filled.cols * format_.channels, scratch.data() + i * format_.row_bytes());
      pad_block(scratch.data(), piece, filled);
      sink().write_at(offset + row * format_.row_bytes(),
                      scratch.bytes().first(static_cast<std::size_t>(piece.bytes())));
    }
  }

  /// Clears padding below the image. The file of a partial result may have been extended before, with other
  /// bytes than zeros.
  void clear_tile_rows(std::int64_t offset, std::int64_t rows, int worker) {
    Buffer& scratch = scratch_of(worker);
    std::memset(scratch.data(), 0, static_cast<std::size_t>(scratch.size()));
    const std::int64_t end = offset + rows * format_.row_bytes();
    for (std::int64_t at = offset; at < end; at += scratch.size())
      sink().write_at(at,
                      scratch.bytes().first(static_cast<std::size_t>(std::min(scratch.size(), end - at))));
  }

  // Strips are contiguous, so a plane is one array of rows.
  void write_strips(const Rect& rect, const ConstPixelView& in, Executor& executor) {
    const std::int64_t rows_per_task = std::max<std::int64_t>(1, kTaskBytes / in.row_bytes());
    const std::int64_t tasks = ceil_div(rect.rows, rows_per_task);
    executor.for_each(directory().planes() * tasks, [&](std::int64_t task, int worker) {
      const std::int64_t plane = task / tasks;
      const std::int64_t first = task % tasks * rows_per_task;
      const ConstPixelView rows = in.crop({first, 0, std::min(rows_per_task, rect.rows - first), rect.cols});
      const std::int64_t offset = first_offset_ +
                                  (plane * spec().extent.rows + rect.row + first) * format_.row_bytes() +
                                  rect.col * pixel_bytes();
      write_rows(offset, channel_of(plane), worker, rows);
    });
  }

  void write_rows(std::int64_t offset, std::int64_t channel, int worker, const ConstPixelView& in) {
    const bool whole_rows = in.extent.cols == spec().extent.cols;
    const bool is_direct = channel == kAllChannels && format_.type.is_pixels() && !format_.has_signed_ab();
    if (is_direct && whole_rows && in.contiguous()) {
      sink().write_at(offset, {in.data, static_cast<std::size_t>(in.extent.rows * in.row_bytes())});
    } else if (is_direct && (!whole_rows || 2 * in.row_bytes() > kScratchBytes)) {
      for (std::int64_t row = 0; row < in.extent.rows; ++row) {
        sink().write_at(offset + row * format_.row_bytes(),
                        {in.row_data(row), static_cast<std::size_t>(in.row_bytes())});
      }
    } else {
      write_through_scratch(offset, channel, worker,
                            channel == kAllChannels ? as_elements(in, format_.type) : in, whole_rows);
    }
  }

  /// `in` has one element per pixel, or `channel` selects one of its channels.
  void write_through_scratch(std::int64_t offset, std::int64_t channel, int worker, const ConstPixelView& in,
                             bool whole_rows) {
    Buffer& scratch = scratch_of(worker);
    const std::int64_t row_bytes = format_.row_bytes();
    const std::int64_t element_bytes = format_.type.bytes_of(1);
    const bool several_rows = whole_rows && row_bytes <= kScratchBytes;
    const std::int64_t whole_pixels = kScratchBytes / element_bytes / format_.channels * format_.channels;
    const Extent step{several_rows ? kScratchBytes / row_bytes : 1,
                      several_rows ? in.extent.cols : whole_pixels};
    for (std::int64_t row = 0; row < in.extent.rows; row += step.rows) {
      for (std::int64_t col = 0; col < in.extent.cols; col += step.cols) {
        const Rect part = Rect{row, col, step.rows, step.cols}.intersect(Rect::whole(in.extent));
        copy_to_block(in.crop(part), format_.type, channel, scratch.data(), part.cols * element_bytes);
        if (format_.has_signed_ab()) shift_ab(format_, channel, part.area(), scratch.data());
        sink().write_at(offset + row * row_bytes + col * element_bytes,
                        scratch.bytes().first(static_cast<std::size_t>(part.area() * element_bytes)));
      }
    }
  }

  /// Buffer for gathering before a write, allocated on first use.
  Buffer& scratch_of(int worker) {
    Buffer& scratch = scratch_[static_cast<std::size_t>(worker)];
    if (scratch.data() == nullptr) scratch = Buffer(scratch_bytes());
    return scratch;
  }
  std::int64_t scratch_bytes() const noexcept {
    if (!directory().tiled) return kScratchBytes;
    const std::int64_t row_bytes = format_.row_bytes();
    return std::clamp(kScratchBytes / row_bytes * row_bytes, row_bytes, format_.bytes());
  }
  std::int64_t pixel_bytes() const noexcept { return format_.type.bytes_of(format_.channels); }

  const BlockFormat format_;
  const std::int64_t first_offset_;
  std::vector<Buffer> scratch_;  // one per writing thread
};

}  // namespace

std::unique_ptr<TiffWriter> make_uncompressed_writer(std::unique_ptr<TiffSink> sink) {
  return std::make_unique<UncompressedWriter>(std::move(sink));
}

}  // namespace sepconv
