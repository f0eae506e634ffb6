// Sink of pixels, by rectangle. Nothing is visible under the target's name before finish().
#pragma once

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

/// What a planner must know of a sink.
struct SinkLayout {
  /// What the file stores in one piece: a tile, or a strip of full width. {1, 1}: rows one behind the other.
  Extent block{1, 1};
  Access access = Access::random;
  /// False when the whole image is collected in memory before it can be encoded.
  bool streams = true;
  std::string description{};
  /// Whether rows of a block may be written alone, as those of an uncompressed tile; else it is encoded
  /// whole.
  bool cuts_blocks = false;
  /// What the file cannot keep, or had to get otherwise than it was asked for, a sentence each.
  std::vector<std::string> warnings{};
  /// As SourceLayout::stored: what Writer::write makes of its pixels.
  std::optional<SampleType> stored{};
  /// As SourceLayout::codec.
  std::string codec{kUncompressed};
  /// What is stored as one object, where that is several blocks: a shard. Empty: each block is one.
  Extent shard{};
  /// Whether each block or shard is a file of its own, so that several are written at once.
  bool many_files = false;
  /// Whether blocks follow each other in the file as they come, and not at places known beforehand.
  bool appends = false;
  /// Smaller levels that are made with the image.
  std::vector<OverviewRows> levels{};
  bool nearest_levels = false;  ///< as FileLayout's
  /// The last channel, alpha, becomes a mask, or nothing: of it only matters whether it is 0.
  bool masks_alpha = false;
  /// What blocks are that others may encode, to the same bytes: Writer::encoded() is there then.
  std::optional<EncodedTiles> coded{};

  /// Rectangles given to write() start at multiples of this and end at multiples of it or at the image's
  /// edge. {1, 1}: any rectangle.
  Extent unit() const noexcept { return cuts_blocks ? Extent{1, block.cols} : block; }
};

class Writer {
 public:
  /// A writer that is destroyed without finish() leaves nothing behind: no target, no temporary file.
  virtual ~Writer() = default;

  virtual const ImageSpec& spec() const noexcept = 0;
  virtual const SinkLayout& layout() const noexcept = 0;

  /// Takes the pixels of `rect`, each pixel of the image exactly once over all calls; `in` has spec()'s
  /// channels and type and may be reused when the call returns. Encoding is spread over `executor`; what
  /// reaches the file does not depend on its number of threads. One call at a time; in any order when
  /// layout().access is random, in ascending full rows when it is sequential. Throws IoError, which names the
  /// file.
  virtual void write(const Rect& rect, const ConstPixelView& in, Executor& executor) = 0;

  /// Page-locked memory where the pixels of `rect` are to end up, which a device may then fill itself, else a
  /// view without data. write() is called all the same once they are there, with this very view.
  virtual PixelView page_locked(const Rect& rect) const {
    (void)rect;
    return {};
  }
  /// Whether all of the image is to end up so.
  bool is_page_locked() const { return page_locked(Rect::whole(spec().extent)).data != nullptr; }

  /// Takes encoded blocks in place of pixels; null unless layout().coded says how they are made. The writer's
  /// own.
  virtual EncodedWriter* encoded() noexcept { return nullptr; }

  /// By which another process continues with what this one wrote; null where it cannot. The writer's own.
  virtual ResumableWriter* resumable() noexcept { return nullptr; }

  /// Sinks of the image's smaller levels, each of half the sides (rounded up) of the one before, which stay
  /// this writer's: they get all of their pixels before finish(), which is not called of them. None: it makes
  /// no pyramid.
  virtual std::vector<Writer*> levels() { return {}; }

  /// Does what is left to do and takes time, such as encoding an image collected as a whole, without making
  /// anything visible; run() calls it before finish() so that a stop request that comes meanwhile still
  /// leaves nothing. Optional: finish() does it if it was not called. Throws IoError.
  virtual void prepare_finish() {}

  /// Completes the file and gives it its name. Call once, after all pixels. Throws IoError; then nothing is
  /// left behind.
  virtual void finish() = 0;

  /// Upper bound of the memory held while writes run on an executor of this concurrency, encoder's own
  /// included, `in` excluded.
  virtual std::int64_t buffer_bytes(int concurrency) const = 0;
};

}  // namespace sepconv
