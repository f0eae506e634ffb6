#include <algorithm>
#include <functional>
#include <mutex>
#include <vector>

#include "io/encoded_blocks.hpp"
#include "io/limited_executor.hpp"
#include "io/split_alpha.hpp"
#include "io/tiff/encoder_pool.hpp"
#include "io/tiff/tiff_writer.hpp"

namespace sepconv {
namespace {

/// Encoded blocks are buffered until their batch is complete and can be placed in order.
constexpr std::int64_t kBatchBytes = 32 << 20;

/// Places the blocks of a batch in their order and writes them while others are encoded. One thread at a time
/// places and writes, because the kernel serialises writes to a file.
class BatchInOrder {
 public:
  /// `write(i)` places block i and writes it there. It is called for each block in ascending order.
  BatchInOrder(std::int64_t blocks, std::function<void(std::int64_t)> write)
      : encoded_(static_cast<std::size_t>(blocks)), write_(std::move(write)) {}

  /// Call when block i is encoded. Writes it and the following encoded blocks, unless a block before it is
  /// missing or another thread is writing, which then continues with this one.
  void add(std::int64_t i) {
    std::unique_lock lock(mutex_);
    encoded_[static_cast<std::size_t>(i)] = true;
    if (is_writing_) return;
    is_writing_ = true;
    while (next_ < encoded_.size() && encoded_[next_]) {
      const auto block = static_cast<std::int64_t>(next_++);
      lock.unlock();
      write_(block);  // after an exception nothing more is written
      lock.lock();
    }
    is_writing_ = false;
  }

 private:
  std::mutex mutex_;
  std::vector<bool> encoded_;
  std::size_t next_ = 0;
  bool is_writing_ = false;
  std::function<void(std::int64_t)> write_;
};

class CompressedWriter final : public TiffWriter, private EncodedWriter {
 public:
  CompressedWriter(std::unique_ptr<TiffSink> tiff, std::shared_ptr<EncoderPool> shared_pool)
      : TiffWriter(std::move(tiff)),
        shares_pool_(shared_pool != nullptr),
        pool_(shares_pool_ ? std::move(shared_pool) : std::make_shared<EncoderPool>()) {}

  void finish() override { finish_sink(); }
  std::shared_ptr<EncoderPool> encoder_pool() const override { return pool_; }
  EncodedWriter* encoded() noexcept override { return layout().coded ? this : nullptr; }

  std::int64_t buffer_bytes(int concurrency) const override {
    const std::int64_t mask_bytes = mask() != nullptr ? mask()->buffer_bytes(concurrency) : 0;
    if (shares_pool_) return sink().memory_bytes() + mask_bytes;
    const BlockFormat& format = directory().block;
    const std::int64_t split = splits_alpha_per_block() ? concurrency * split_block_bytes() : 0;
    // Shorter last strips of the planes need encoders besides the pooled ones.
    const bool short_strips = !directory().tiled && spec().extent.rows % format.extent.rows != 0;
    const std::int64_t encoders =
        concurrency + (short_strips ? std::min<std::int64_t>(concurrency, directory().planes()) : 0);
    return sink().memory_bytes() + mask_bytes + split + encoders * BlockEncoder::memory_bytes(format) +
           batch_blocks(concurrency) * format.max_encoded_bytes();
  }

 private:
  struct Block {
    std::int64_t plane, grid_row, grid_col;  ///< the plane after the image's planes is its mask
  };

  bool splits_alpha_per_block() const noexcept override { return directory().alpha != AlphaInFile::channel; }
  std::int64_t planes() const noexcept { return directory().planes() + (mask() != nullptr ? 1 : 0); }
  bool is_mask_block(const Block& block) const noexcept { return block.plane == directory().planes(); }
  std::int64_t split_block_bytes() const noexcept {
    return directory().block.extent.area() * directory().spec.pixel_bytes();
  }

  void write_encoded(const Rect& rect, std::span<const std::span<const std::byte>> blocks,
                     Executor& executor) override {
    check_rect(rect);
    const Rect grid = directory().grid_rect(rect);
    if (std::ssize(blocks) != grid.area())
      throw InvalidArgument(sink().name() + ": another number of blocks than the rectangle has");
    LimitedExecutor(executor, 1).for_each(grid.area(), [&](std::int64_t i, int) {
      const std::span<const std::byte> block = blocks[static_cast<std::size_t>(i)];
      const Block at{0, grid.row + i / grid.cols, grid.col + i % grid.cols};
      sink().write_at(place(at, std::ssize(block)), block);
    });
    add_written(rect);
  }

  // Blocks are encoded on all threads and placed in row-major order, so the file's bytes do not depend on the
  // number of threads. Each row of blocks is followed by that of the next plane or the mask, so that the bytes
  // do not depend on the number of rows per call either.
  void write_pixels(const Rect& rect, const ConstPixelView& in, Executor& executor) override {
    const Rect blocks = directory().grid_rect(rect);
    const std::int64_t count = planes() * blocks.area();
    const std::int64_t batch = batch_blocks(executor.concurrency());
    std::vector<EncodedBlock>& encoded_blocks = pool_->encoded;
    encoded_blocks.resize(
        static_cast<std::size_t>(std::max<std::int64_t>(std::ssize(encoded_blocks), std::min(batch, count))));
    const auto block_at = [&](std::int64_t i) {
      const std::int64_t row_blocks = planes() * blocks.cols;
      return Block{i % row_blocks / blocks.cols, blocks.row + i / row_blocks, blocks.col + i % blocks.cols};
    };
    for (std::int64_t first = 0; first < count; first += batch) {
      const std::int64_t size = std::min(batch, count - first);
      BatchInOrder in_order(size, [&](std::int64_t i) {
        sink().write_at(place(block_at(first + i), encoded(i).size), encoded(i).bytes());
      });
      executor.for_each(size, [&](std::int64_t i, int) {
        encode(block_at(first + i), rect, in, encoded(i));
        in_order.add(i);
      });
    }
  }

  std::int64_t place(const Block& block, std::int64_t bytes) {
    TiffSink& page = is_mask_block(block) ? sink_of(*mask()) : sink();
    const std::int64_t plane = is_mask_block(block) ? 0 : block.plane;
    return page.place(directory().block_index(plane, block.grid_row, block.grid_col), bytes);
  }

  void encode(const Block& block, const Rect& rect, const ConstPixelView& in, EncodedBlock& encoded) {
    const Rect part = directory().block_rect(block.grid_row, block.grid_col);
    const ConstPixelView pixels = in.crop({part.row - rect.row, part.col - rect.col, part.rows, part.cols});
    if (is_mask_block(block)) {
      const auto split_buffer =
          pool_->split.lease([&] { return std::make_unique<Buffer>(split_block_bytes()); });
      const PixelView split = dense_view(split_buffer->data(), {part.extent(), 1, PixelType::u8});
      make_mask(pixels, directory().mask_of, split);
      encode(split, kAllChannels, sink_of(*mask()).directory(), block.grid_row, *mask()->encoder_pool(),
             encoded);
    } else if (directory().drops_alpha() && !directory().planar) {
      const auto split_buffer =
          pool_->split.lease([&] { return std::make_unique<Buffer>(split_block_bytes()); });
      const PixelView split = dense_view(split_buffer->data(), directory().spec, part.extent());
      copy_but_last(pixels, split);
      encode(split, kAllChannels, directory(), block.grid_row, *pool_, encoded);
    } else {
      encode(pixels, channel_of(block.plane), directory(), block.grid_row, *pool_, encoded);
    }
  }

  void encode(const ConstPixelView& pixels, std::int64_t channel, const TiffDirectory& page,
              std::int64_t grid_row, EncoderPool& pool, EncodedBlock& encoded) {
    BlockFormat format = page.block;
    format.extent.rows = page.stored_rows(grid_row);
    if (format.extent == page.block.extent) {
      const auto encoder = pool.encoders.lease([&] { return BlockEncoder::make(format, sink().name()); });
      encoder->encode(pixels, channel, encoded);
    } else {  // the last strip, which is shorter: one per plane, so its encoder is not pooled
      BlockEncoder::make(format, sink().name())->encode(pixels, channel, encoded);
    }
  }

  std::int64_t batch_blocks(int concurrency) const {
    const std::int64_t batch =
        std::clamp<std::int64_t>(kBatchBytes / directory().block.bytes(), concurrency, 4 * concurrency);
    return std::min(batch, directory().block_count() + (mask() != nullptr ? directory().grid().area() : 0));
  }

  EncodedBlock& encoded(std::int64_t i) { return pool_->encoded[static_cast<std::size_t>(i)]; }

  bool shares_pool_;
  std::shared_ptr<EncoderPool> pool_;
};

}  // namespace

std::unique_ptr<TiffWriter> make_compressed_writer(std::unique_ptr<TiffSink> sink,
                                                   std::shared_ptr<EncoderPool> shared_pool) {
  return std::make_unique<CompressedWriter>(std::move(sink), std::move(shared_pool));
}

}  // namespace sepconv
