#include <fmt/format.h>

#include <mutex>
#include <vector>

#include "sepconv/core/error.hpp"
#include "sepconv/core/memory.hpp"
#include "sepconv/io/encoded_blocks.hpp"
#include "sepconv/io/tiff/block_decoder.hpp"
#include "sepconv/io/tiff/jpeg_stream.hpp"
#include "sepconv/io/tiff/lease_pool.hpp"
#include "sepconv/io/tiff/tiff_reader.hpp"

namespace sepconv {
namespace {

class CompressedReader : public TiffReader, private EncodedReader {
 public:
  CompressedReader(std::unique_ptr<TiffFile> tiff, bool streams) : TiffReader(std::move(tiff), streams) {
    check_blocks([this](std::int64_t plane, std::int64_t grid_row, std::int64_t grid_col) {
      locate(directory().block_index(plane, grid_row, grid_col), grid_row);
    });
  }

  std::int64_t buffer_bytes(int concurrency) const override {
    return file().memory_bytes() + concurrency * BlockDecoder::memory_bytes(directory().block);
  }

  EncodedReader* encoded() noexcept override { return layout().coded ? this : nullptr; }

 protected:
  // A task per block and plane, planes apart: threads that fill neighbouring channels would fight for cache
  // lines.
  void read_pixels(const Rect& rect, const PixelView& out, Executor& executor) override {
    const Rect blocks = directory().grid_rect(rect);
    executor.for_each(directory().planes() * blocks.area(), [&](std::int64_t task, int) {
      const std::int64_t plane = task / blocks.area();
      const std::int64_t grid_row = blocks.row + task % blocks.area() / blocks.cols;
      const std::int64_t grid_col = blocks.col + task % blocks.cols;
      const Rect part = directory().block_rect(grid_row, grid_col).intersect(rect);
      const PixelView to = out.crop({part.row - rect.row, part.col - rect.col, part.rows, part.cols});
      read_block(plane, grid_row, grid_col, part, to);
    });
  }

  void free_decoders() { decoders_.clear(); }

 private:
  std::int64_t encoded_bytes(std::int64_t grid_row, std::int64_t grid_col) override {
    const std::int64_t bytes = locate(directory().block_index(0, grid_row, grid_col), grid_row).bytes;
    return whole_jpeg_bytes(directory().block.jpeg_tables, bytes);
  }
  void read_encoded(std::int64_t grid_row, std::int64_t grid_col, std::span<std::byte> to) override {
    const std::vector<std::byte>& tables = directory().block.jpeg_tables;
    file().bytes().read_at(file().locate(directory().block_index(0, grid_row, grid_col)).offset,
                           place_in_jpeg(tables, to));
    if (!tables.empty()) put_jpeg_tables(tables, to);
  }

  void read_block(std::int64_t plane, std::int64_t grid_row, std::int64_t grid_col, const Rect& part,
                  const PixelView& out) {
    const BlockFormat& format = directory().block;
    const Rect block = directory().block_rect(grid_row, grid_col);
    const std::int64_t index = directory().block_index(plane, grid_row, grid_col);
    const StoredBlock stored = locate(index, grid_row);
    if (stored.sparse()) return clear_pixels(out, format.type, channel_of(plane), unwritten());

    const auto decoder =
        decoders_.lease([&] { return std::make_unique<BlockDecoder>(format, file().name()); });
    file().bytes().read_at(stored.offset, decoder->encoded(stored.bytes));
    const std::int64_t decoded_bytes = directory().stored_rows(grid_row) * format.row_bytes();
    const bool in_place = format.type.is_pixels() && !directory().planar &&
                          part.extent() == Extent{directory().stored_rows(grid_row), format.extent.cols} &&
                          out.contiguous();
    const std::string what =
        fmt::format("cannot decode block {} ({}); the file is damaged", index, to_string(block));
    const bool is_last_strip = !directory().tiled && grid_row + 1 == directory().grid().rows;
    if (in_place)
      return decoder->decode({out.data, static_cast<std::size_t>(decoded_bytes)}, what, is_last_strip);

    const std::span<std::byte> decoded = decoder->scratch().first(static_cast<std::size_t>(decoded_bytes));
    decoder->decode(decoded, what, is_last_strip);
    const std::int64_t bits = (part.col - block.col) * format.channels * format.type.bits;
    const std::int64_t skipped = (part.row - block.row) * format.row_bytes() + bits / 8;
    check_number(copy_from_block(decoded.data() + skipped, format.type, format.row_bytes(), channel_of(plane),
                                 out, static_cast<int>(bits % 8)),
                 part);
  }

  // A byte count must be one that the block's pixels can have: too few bytes cannot claim much memory, nor
  // can too many.
  StoredBlock locate(std::int64_t index, std::int64_t grid_row) {
    BlockFormat format = directory().block;
    format.extent.rows = directory().stored_rows(grid_row);
    const StoredBlock stored = file().locate(index);
    if (stored.sparse()) return stored;
    if (stored.bytes > directory().block.max_encoded_bytes() || stored.bytes < format.min_encoded_bytes()) {
      throw IoError(fmt::format(
          "{}: block {} takes {} bytes for {} bytes of pixels, which cannot be; the file is damaged",
          file().name(), index, stored.bytes, format.bytes()));
    }
    return stored;
  }

  LeasePool<BlockDecoder> decoders_;
};

/// One strip of everything: decoded by the first read and held.
class HeldReader final : public CompressedReader {
 public:
  explicit HeldReader(std::unique_ptr<TiffFile> tiff) : CompressedReader(std::move(tiff), false) {}

  std::int64_t buffer_bytes(int) const override { return spec().bytes() + CompressedReader::buffer_bytes(1); }

 private:
  void read_pixels(const Rect& rect, const PixelView& out, Executor&) override {
    copy_pixels(ConstPixelView(image()).crop(rect), out);
  }

  // The lock is held while decoding, so no executor is asked for help: it might come back here on this very
  // thread.
  PixelView image() {
    const std::lock_guard lock(mutex_);
    PixelView view{nullptr, spec().extent, spec().channels, spec().type, spec().row_bytes()};
    if (held_.size() == 0) {
      Buffer pixels(spec().bytes());
      view.data = pixels.data();
      SerialExecutor serial;
      CompressedReader::read_pixels(Rect::whole(spec().extent), view, serial);
      free_decoders();
      held_ = std::move(pixels);
    }
    view.data = held_.data();
    return view;
  }

  std::mutex mutex_;
  Buffer held_;
};

}  // namespace

std::unique_ptr<TiffReader> make_compressed_reader(std::unique_ptr<TiffFile> file) {
  const TiffDirectory& directory = file->directory();
  if (!directory.tiled && directory.grid().rows == 1) return std::make_unique<HeldReader>(std::move(file));
  return std::make_unique<CompressedReader>(std::move(file), true);
}

}  // namespace sepconv
