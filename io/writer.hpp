// Sink of pixels, written by rectangle. Nothing is visible under the target's name before finish().
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "core/executor.hpp"
#include "core/image.hpp"
#include "io/overview_rows.hpp"
#include "io/reader.hpp"

namespace sepconv {

class EncodedWriter;
class ResumableWriter;

/// Smaller pieces of a file are written by one thread (MappedStore).
inline constexpr std::int64_t kMinMappedPieceBytes = std::int64_t{64} << 10;

/// Number of `concurrency` threads that store to a file's mapping, where at most `max_threads` do. 1 if there
/// are few: then one that calls write() is faster.
constexpr int mapped_write_threads(int max_threads, int concurrency) noexcept {
  constexpr int kMinThreads = 4;
  return concurrency < kMinThreads ? 1 : std::min(max_threads, concurrency);
}

/// Properties of a sink that planning needs.
struct SinkLayout {
  /// Size of the blocks of the file: a tile, or a strip of full width. {1, 1}: contiguous rows.
  Extent block{1, 1};
  Access access = Access::random;
  /// False if the whole image is buffered in memory before it is encoded.
  bool streams = true;
  std::string description{};
  /// Whether rows of a block can be written separately, as in an uncompressed tile; otherwise blocks are
  /// encoded as a whole.
  bool partial_blocks = false;
  /// Warnings about what the file cannot store, or stores differently than requested, one sentence each.
  std::vector<std::string> warnings{};
  /// As SourceLayout::stored: the element type that Writer::write() converts pixels to.
  std::optional<SampleType> stored{};
  /// As SourceLayout::codec.
  std::string codec{kUncompressed};
  /// Size of a shard, an object of several blocks. Empty: each block is an object.
  Extent shard{};
  /// Whether each block or shard is a separate file, so that several are written concurrently.
  bool file_per_block = false;
  /// Maximum number of threads that write to the file at the same time. 1: the kernel serialises writes.
  int max_write_threads = 1;
  /// Whether blocks are appended in the order of writing instead of at known offsets.
  bool is_append_only = false;
  /// Smaller levels that are written with the image.
  std::vector<OverviewRows> levels{};
  bool nearest_levels = false;  ///< as FileLayout::nearest_levels
  /// Whether the last channel, alpha, is stored as a mask or dropped, so that only alpha 0 matters.
  bool alpha_becomes_mask = false;
  /// Encoding of blocks that a GPU can write with identical bytes; Writer::encoded() is not null then.
  std::optional<EncodedTiles> coded{};

  /// Rectangles of write() start at multiples of this and end at multiples of it or at the image's edge. {1,
  /// 1}: any rectangle.
  Extent unit() const noexcept { return partial_blocks ? Extent{1, block.cols} : block; }
};

/// Bytes of the contiguous pieces of an uncompressed file that hold a part of an image.
inline std::int64_t piece_bytes(const SinkLayout& layout, const ImageSpec& image, Extent part) noexcept {
  const bool is_tiled = layout.block.cols > 1 && layout.block.cols != image.extent.cols;
  const std::int64_t bytes = layout.stored.value_or(SampleType(image.type)).bytes_of(image.channels);
  if (is_tiled) return std::min(part.rows, layout.block.rows) * layout.block.cols * bytes;
  return (part.cols == image.extent.cols ? part.rows : 1) * part.cols * bytes;
}

/// Number of `concurrency` threads that write a part of an uncompressed image at the same time, to one file or
/// several.
inline int write_threads(const SinkLayout& layout, const ImageSpec& image, Extent part,
                         int concurrency) noexcept {
  if (layout.file_per_block) return mapped_write_threads(concurrency, concurrency);
  if (piece_bytes(layout, image, part) < kMinMappedPieceBytes) return 1;
  return mapped_write_threads(layout.max_write_threads, concurrency);
}

class Writer {
 public:
  /// Destroying a writer without finish() leaves no target and no temporary file.
  virtual ~Writer() = default;

  virtual const ImageSpec& spec() const noexcept = 0;
  virtual const SinkLayout& layout() const noexcept = 0;

  /// Writes the pixels of `rect`. Each pixel of the image is written exactly once. `in` has spec()'s channels
  /// and type and may be reused after the call. Encodes in parallel on `executor`; the file does not depend
  /// on its number of threads. Not thread-safe. Any order if layout().access is random; full rows in
  /// ascending order if it is sequential. Throws IoError that names the file.
  virtual void write(const Rect& rect, const ConstPixelView& in, Executor& executor) = 0;

  /// A view of page-locked memory for the pixels of `rect`, which a device may fill directly; else a view
  /// without data. write() is called afterwards nevertheless, with this view.
  virtual PixelView page_locked(const Rect& rect) const {
    (void)rect;
    return {};
  }
  /// Whether page_locked() has the whole image.
  bool is_page_locked() const { return page_locked(Rect::whole(spec().extent)).data != nullptr; }

  /// Interface for writing encoded blocks; null unless layout().coded is set. Owned by the writer.
  virtual EncodedWriter* encoded() noexcept { return nullptr; }

  /// Interface for continuing the file in another process; null if not supported. Owned by the writer.
  virtual ResumableWriter* resumable() noexcept { return nullptr; }

  /// Sinks of the image's smaller levels, each with half the sides (rounded up) of the one before. Owned by
  /// this writer. They must receive all pixels before finish(), and their finish() is not called. Empty
  /// without a pyramid.
  virtual std::vector<Writer*> levels() { return {}; }

  /// Does remaining slow work, such as encoding a buffered image, without making anything visible. run()
  /// calls it before finish(), so that a stop during this work leaves nothing. Optional: finish() does it
  /// otherwise. Throws IoError.
  virtual void prepare_finish() {}

  /// Completes the file and renames it to the target. Call once, after all pixels. Throws IoError and then
  /// leaves no file.
  virtual void finish() = 0;

  /// Upper bound of memory during writes on an executor of this concurrency, including the encoder's and
  /// excluding `in`.
  virtual std::int64_t buffer_bytes(int concurrency) const = 0;
};

}  // namespace sepconv
