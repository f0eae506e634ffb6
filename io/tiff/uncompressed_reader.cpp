#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "core/memory.hpp"
#include "io/object_pool.hpp"
#include "io/tiff/tiff_reader.hpp"
#include "io/tiff/uncompressed.hpp"

namespace sepconv {
namespace {

/// Parts of a row of at least this size are read in place, with a system call each.
constexpr std::int64_t kInPlaceBytes = 16 << 10;
/// Upper bound of an omitted block: a larger one is not a writer's sparse block but an empty file that claims
/// many pixels.
constexpr std::int64_t kMaxSparseBytes = std::int64_t{1} << 30;

class UncompressedReader final : public TiffReader {
 public:
  explicit UncompressedReader(std::unique_ptr<TiffFile> tiff)
      : TiffReader(std::move(tiff), true), format_(directory().block) {
    check_blocks([this](std::int64_t plane, std::int64_t grid_row, std::int64_t grid_col) {
      locate(plane, grid_row, grid_col);
    });
    check_first_counts();
  }

  std::int64_t buffer_bytes(int concurrency) const override {
    return file().memory_bytes() + concurrency * kScratchBytes;
  }

 private:
  // If the first two of several strips differ, libtiff considers the whole table wrong and recomputes it from
  // the average rows per strip: too few bytes for the pixels if the last strip is shorter. Its tools refuse
  // such a file.
  void check_first_counts() const {
    const std::int64_t strips = directory().grid().rows;
    const bool is_accepted = directory().tiled || directory().planar || strips <= 2 ||
                             directory().spec.extent.rows == strips * format_.extent.rows;
    if (is_accepted) return;
    const StoredBlock first = file().locate(0);
    const StoredBlock second = file().locate(1);
    if (first.sparse() || second.sparse() || first.bytes == second.bytes) return;
    throw IoError(fmt::format(
        "{}: strips 0 and 1 have as many rows and {} and {} bytes, uncompressed; the file is damaged",
        file().name(), first.bytes, second.bytes));
  }

  void read_pixels(const Rect& rect, const PixelView& out, Executor& executor) override {
    if (directory().tiled) {
      read_tiles(rect, out, executor);
    } else {
      read_strips(rect, out, executor);
    }
  }

  // One task per tile and plane. Planes are not adjacent in the order of tasks: threads that fill
  // neighbouring channels would contend for cache lines.
  void read_tiles(const Rect& rect, const PixelView& out, Executor& executor) {
    const Rect tiles = directory().grid_rect(rect);
    executor.for_each(directory().planes() * tiles.area(), [&](std::int64_t task, int) {
      const std::int64_t plane = task / tiles.area();
      const std::int64_t grid_row = tiles.row + task % tiles.area() / tiles.cols;
      const std::int64_t grid_col = tiles.col + task % tiles.cols;
      const Rect tile = directory().block_rect(grid_row, grid_col);
      const Rect part = tile.intersect(rect);
      const StoredBlock stored = locate(plane, grid_row, grid_col);
      const PixelView to = out.crop({part.row - rect.row, part.col - rect.col, part.rows, part.cols});
      read_rows(stored, tile, part, channel_of(plane), to);
    });
  }

  void read_strips(const Rect& rect, const PixelView& out, Executor& executor) {
    const std::int64_t rows_per_task = std::max<std::int64_t>(1, kTaskBytes / out.row_bytes());
    executor.for_each(ceil_div(rect.rows, rows_per_task), [&](std::int64_t task, int) {
      const std::int64_t first = task * rows_per_task;
      const Rect part{rect.row + first, rect.col, std::min(rows_per_task, rect.rows - first), rect.cols};
      for (std::int64_t plane = 0; plane < directory().planes(); ++plane) {
        read_strip_rows(plane, part, out.crop({first, 0, part.rows, part.cols}));
      }
    });
  }

  // Strips that are contiguous in the file, as nearly always, are read as one.
  void read_strip_rows(std::int64_t plane, const Rect& part, const PixelView& out) {
    const std::int64_t strip_rows = format_.extent.rows;
    for (std::int64_t row = part.row; row < part.row_end();) {
      std::int64_t strip = row / strip_rows;
      const std::int64_t row_in_strip = row - strip * strip_rows;
      const StoredBlock stored = locate(plane, strip, 0);
      std::int64_t end = std::min(part.row_end(), (strip + 1) * strip_rows);
      while (end < part.row_end() && !stored.sparse()) {
        const std::int64_t gapless = stored.offset + (end - row + row_in_strip) * format_.row_bytes();
        if (locate(plane, ++strip, 0).offset != gapless) break;
        end = std::min(part.row_end(), (strip + 1) * strip_rows);
      }
      const Rect block{row - row_in_strip, 0, end - row + row_in_strip, format_.extent.cols};
      read_rows(stored, block, {row, part.col, end - row, part.cols}, channel_of(plane),
                out.crop({row - part.row, 0, end - row, part.cols}));
      row = end;
    }
  }

  /// Reads `part` of the image, which is within `block`, into `out`.
  void read_rows(const StoredBlock& stored, const Rect& block, const Rect& part, std::int64_t channel,
                 const PixelView& out) {
    if (stored.sparse()) return clear_pixels(out, format_.type, channel, unwritten());
    const std::int64_t row_bytes = format_.row_bytes();
    const std::int64_t part_bytes = out.extent.cols * pixel_bytes();
    const std::int64_t offset =
        stored.offset + (part.row - block.row) * row_bytes + (part.col - block.col) * pixel_bytes();
    const bool is_direct = channel == kAllChannels && format_.type.is_pixels();
    if (is_direct && part_bytes == row_bytes && out.contiguous()) {
      read_native(offset, {out.data, static_cast<std::size_t>(out.extent.rows * row_bytes)});
    } else if (is_direct && part_bytes >= kInPlaceBytes) {
      for (std::int64_t row = 0; row < out.extent.rows; ++row) {
        read_native(offset + row * row_bytes, {out.row_data(row), static_cast<std::size_t>(part_bytes)});
      }
    } else {
      read_through_scratch(stored, block, part, channel, out);
    }
  }

  // Reads several rows at once if most of their bytes are requested, else row by row, in parts that fit. Rows
  // consist of elements, and those of some types may begin within a byte.
  void read_through_scratch(const StoredBlock& stored, const Rect& block, const Rect& part,
                            std::int64_t channel, const PixelView& out) {
    const auto scratch = scratch_.lease([] { return std::make_unique<Buffer>(kScratchBytes); });
    const bool all = channel == kAllChannels;
    const PixelView view = all ? as_elements(out, format_.type) : out;
    const std::int64_t bits = format_.type.bits;
    const std::int64_t row_bytes = format_.row_bytes();
    const std::int64_t first = (part.col - block.col) * format_.channels;
    const bool whole_rows = 2 * view.extent.cols * bits >= 8 * row_bytes && row_bytes <= kScratchBytes;
    const Extent step{whole_rows ? kScratchBytes / row_bytes : 1,
                      whole_rows ? view.extent.cols : 8 * (kScratchBytes - 1) / bits};
    for (std::int64_t row = 0; row < view.extent.rows; row += step.rows) {
      for (std::int64_t col = 0; col < view.extent.cols; col += step.cols) {
        const Rect piece = Rect{row, col, step.rows, step.cols}.intersect(Rect::whole(view.extent));
        const std::int64_t bit = (first + col) * bits;
        const std::int64_t bytes = (piece.rows - 1) * row_bytes + ceil_div(bit % 8 + piece.cols * bits, 8);
        read_native(stored.offset + (part.row - block.row + row) * row_bytes + bit / 8,
                    scratch->bytes().first(static_cast<std::size_t>(bytes)));
        std::optional<ElementPosition> invalid = copy_from_block(
            scratch->data(), format_.type, row_bytes, channel, view.crop(piece), static_cast<int>(bit % 8));
        if (!invalid) continue;
        invalid->row += row, invalid->col += col;
        if (all) *invalid = {invalid->row, invalid->col / format_.channels, invalid->col % format_.channels};
        check_number(invalid, part);
      }
    }
  }

  void read_native(std::int64_t offset, std::span<std::byte> bytes) {
    file().bytes().read_at(offset, bytes);
    make_native(bytes, format_);
  }

  StoredBlock locate(std::int64_t plane, std::int64_t grid_row, std::int64_t grid_col) {
    const std::int64_t index = directory().block_index(plane, grid_row, grid_col);
    const StoredBlock stored = file().locate(index);
    const std::int64_t needed = directory().stored_rows(grid_row) * format_.row_bytes();
    if (stored.sparse() && needed > kMaxSparseBytes) {
      throw IoError(fmt::format("{}: block {} of {} bytes of pixels is not in the file; the file is damaged",
                                file().name(), index, needed));
    }
    if (!stored.sparse() && stored.bytes < needed) {
      throw IoError(fmt::format(
          "{}: block {} holds {} bytes where its pixels take {}; the file is truncated or damaged",
          file().name(), index, stored.bytes, needed));
    }
    return stored;
  }

  std::int64_t pixel_bytes() const noexcept { return format_.type.bytes_of(format_.channels); }

  const BlockFormat format_;
  ObjectPool<Buffer> scratch_;
};

}  // namespace

std::unique_ptr<TiffReader> make_uncompressed_reader(std::unique_ptr<TiffFile> file) {
  return std::make_unique<UncompressedReader>(std::move(file));
}

}  // namespace sepconv
