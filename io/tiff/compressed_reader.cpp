#include <fmt/format.h>

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/memory.hpp"
#include "io/codec_guard.hpp"
#include "io/encoded_blocks.hpp"
#include "io/object_pool.hpp"
#include "io/tiff/block_decoder.hpp"
#include "io/tiff/jpeg_stream.hpp"
#include "io/tiff/tiff_reader.hpp"

namespace sepconv {
namespace {

class CompressedReader : public TiffReader, private EncodedReader {
 public:
  CompressedReader(std::unique_ptr<TiffFile> tiff, bool streams)
      : TiffReader(std::move(tiff), streams), in_pairs_(BlockDecoder::can_decode_pairs(directory().block)) {
    check_blocks([this](std::int64_t plane, std::int64_t grid_row, std::int64_t grid_col) {
      locate(directory().block_index(plane, grid_row, grid_col), grid_row);
    });
  }

  std::int64_t buffer_bytes(int concurrency) const override {
    return file().memory_bytes() + concurrency * BlockDecoder::memory_bytes(directory().block);
  }

  void set_cache_budget(std::int64_t bytes) override { cache_budget_ = bytes; }

  std::vector<std::string> warnings_after_reading() const override {
    if (!has_extra_bytes_.load(std::memory_order_relaxed)) return {};
    return {kExtraBytes};
  }

  EncodedReader* encoded() noexcept override { return layout().coded ? this : nullptr; }

 protected:
  // One task per block and plane, or per two blocks. Planes are not adjacent in the order of tasks: threads
  // that fill neighbouring channels would contend for cache lines.
  void read_pixels(const Rect& rect, const PixelView& out, Executor& executor) override {
    const Rect blocks = directory().grid_rect(rect);
    const std::int64_t count = directory().planes() * blocks.area();
    const auto part = [&](std::int64_t index) {
      const std::int64_t grid_row = blocks.row + index % blocks.area() / blocks.cols;
      const std::int64_t grid_col = blocks.col + index % blocks.cols;
      const Rect image_rect = directory().block_rect(grid_row, grid_col).intersect(rect);
      return Part{
          index / blocks.area(), grid_row, grid_col, image_rect,
          out.crop({image_rect.row - rect.row, image_rect.col - rect.col, image_rect.rows, image_rect.cols})};
    };
    if (!pays_in_pairs(count, executor.concurrency()))
      return executor.for_each(count, [&](std::int64_t index, int) { read_part(part(index)); });
    executor.for_each(ceil_div(count, 2), [&](std::int64_t task, int) {
      const bool is_single = 2 * task + 1 == count;
      is_single ? read_part(part(2 * task)) : read_pair(part(2 * task), part(2 * task + 1));
    });
  }

  void free_decoders() { decoders_.clear(); }

 private:
  std::int64_t encoded_bytes(std::int64_t grid_row, std::int64_t grid_col) override {
    const std::int64_t bytes = locate(directory().block_index(0, grid_row, grid_col), grid_row).bytes;
    return complete_jpeg_bytes(directory().block.jpeg_tables, bytes);
  }
  void read_encoded(std::int64_t grid_row, std::int64_t grid_col, std::span<std::byte> to) override {
    const std::vector<std::byte>& tables = directory().block.jpeg_tables;
    file().bytes().read_at(file().locate(directory().block_index(0, grid_row, grid_col)).offset,
                           block_in_jpeg(tables, to));
    if (!tables.empty()) put_jpeg_tables(tables, to);
  }

  /// The requested part of a block, and its destination.
  struct Part {
    std::int64_t plane, grid_row, grid_col;
    Rect image_rect;
    PixelView out;
  };
  /// A block that is read but not decoded yet.
  struct Fetched {
    ObjectPool<BlockDecoder>::Lease decoder;
    std::span<std::byte> decoded;
    bool in_place;  // `decoded` is memory of Part::out
  };

  // Pairs need twice the decoders. With at most as many blocks as threads, some threads would get two and
  // others none.
  bool pays_in_pairs(std::int64_t count, int concurrency) const {
    return in_pairs_.load(std::memory_order_relaxed) && count > concurrency &&
           cache_budget_ >= concurrency * BlockDecoder::memory_bytes(directory().block);
  }

  void read_part(const Part& part) {
    if (auto fetched = fetch(part)) finish(part, *fetched);
  }

  void read_pair(const Part& first_part, const Part& second_part) {
    auto first = fetch(first_part), second = fetch(second_part);
    if (first && second)
      BlockDecoder::decode_pair(*first->decoder, first->decoded, *second->decoder, second->decoded);
    if (first) finish(first_part, *first);
    if (second) finish(second_part, *second);
  }

  /// Reads a block. Returns null if it was never written; then the part is complete.
  std::optional<Fetched> fetch(const Part& part) {
    const BlockFormat& format = directory().block;
    const StoredBlock stored = locate(index_of(part), part.grid_row);
    if (stored.sparse()) {
      clear_pixels(part.out, format.type, channel_of(part.plane), unwritten());
      return std::nullopt;
    }
    auto decoder = decoders_.lease([&] { return std::make_unique<BlockDecoder>(format, file().name()); });
    file().bytes().read_at(stored.offset, decoder->encoded(stored.bytes));
    const Extent whole{directory().stored_rows(part.grid_row), format.extent.cols};
    const auto decoded_bytes = static_cast<std::size_t>(whole.rows * format.row_bytes());
    const bool in_place = format.type.is_pixels() && !directory().planar &&
                          part.image_rect.extent() == whole && part.out.contiguous();
    const std::span<std::byte> decoded =
        in_place ? std::span(part.out.data, decoded_bytes) : decoder->scratch().first(decoded_bytes);
    return Fetched{std::move(decoder), decoded, in_place};
  }

  void finish(const Part& part, Fetched& fetched) {
    const BlockFormat& format = directory().block;
    const Rect block = directory().block_rect(part.grid_row, part.grid_col);
    const bool is_last_strip = !directory().tiled && part.grid_row + 1 == directory().grid().rows;
    fetched.decoder->decode(
        fetched.decoded,
        fmt::format("cannot decode block {} ({}); the file is damaged", index_of(part), to_string(block)),
        is_last_strip);
    in_pairs_.store(fetched.decoder->decoded_by_tables(), std::memory_order_relaxed);
    if (fetched.decoder->has_extra_bytes()) has_extra_bytes_.store(true, std::memory_order_relaxed);
    if (fetched.in_place) return;
    const std::int64_t bits = (part.image_rect.col - block.col) * format.channels * format.type.bits;
    const std::int64_t skipped = (part.image_rect.row - block.row) * format.row_bytes() + bits / 8;
    check_number(copy_from_block(fetched.decoded.data() + skipped, format.type, format.row_bytes(),
                                 channel_of(part.plane), part.out, static_cast<int>(bits % 8)),
                 part.image_rect);
  }

  std::int64_t index_of(const Part& part) const {
    return directory().block_index(part.plane, part.grid_row, part.grid_col);
  }

  // Checks that the block's pixels can have this byte count: neither too few nor too many bytes may claim
  // much memory.
  StoredBlock locate(std::int64_t index, std::int64_t grid_row) {
    BlockFormat format = directory().block;
    format.extent.rows = directory().stored_rows(grid_row);
    const StoredBlock stored = file().locate(index);
    if (stored.sparse()) return stored;
    if (stored.bytes > directory().block.max_encoded_bytes() || stored.bytes < format.min_encoded_bytes()) {
      const bool is_too_long = stored.bytes > format.min_encoded_bytes();
      throw IoError(fmt::format("{}: block {} takes {} bytes for {} bytes of pixels, {}", file().name(),
                                index, stored.bytes, format.bytes(),
                                is_too_long ? "more than the limit of a block; rewrite the file if it is not "
                                              "damaged"
                                            : "which cannot be; the file is damaged"));
    }
    return stored;
  }

  ObjectPool<BlockDecoder> decoders_;
  std::int64_t cache_budget_ = 0;
  std::atomic<bool> has_extra_bytes_ = false;
  std::atomic<bool> in_pairs_;  // set by the last block, so that images of both kinds are read fast
};

/// An image in a single compressed strip: decoded by the first read and buffered.
class BufferedReader final : public CompressedReader {
 public:
  explicit BufferedReader(std::unique_ptr<TiffFile> tiff) : CompressedReader(std::move(tiff), false) {}

  std::int64_t buffer_bytes(int) const override { return spec().bytes() + CompressedReader::buffer_bytes(1); }

 private:
  void read_pixels(const Rect& rect, const PixelView& out, Executor&) override {
    copy_pixels(ConstPixelView(image()).crop(rect), out);
  }

  // Decodes without the executor, since the lock is held: an executor might call back into this function on
  // the same thread.
  PixelView image() {
    const std::lock_guard lock(mutex_);
    PixelView view{nullptr, spec().extent, spec().channels, spec().type, spec().row_bytes()};
    if (decoded_.size() == 0) {
      Buffer pixels(spec().bytes());
      view.data = pixels.data();
      SerialExecutor serial;
      CompressedReader::read_pixels(Rect::whole(spec().extent), view, serial);
      free_decoders();
      decoded_ = std::move(pixels);
    }
    view.data = decoded_.data();
    return view;
  }

  std::mutex mutex_;
  Buffer decoded_;
};

}  // namespace

std::unique_ptr<TiffReader> make_compressed_reader(std::unique_ptr<TiffFile> file) {
  const TiffDirectory& directory = file->directory();
  if (!directory.tiled && directory.grid().rows == 1)
    return std::make_unique<BufferedReader>(std::move(file));
  return std::make_unique<CompressedReader>(std::move(file), true);
}

}  // namespace sepconv
