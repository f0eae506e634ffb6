// Source of pixels, by rectangle. Knows nothing of stages, bands or devices.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/encoded_tiles.hpp"
#include "core/executor.hpp"
#include "core/image.hpp"
#include "io/file_layout.hpp"
#include "io/metadata.hpp"
#include "io/sample_type.hpp"

namespace sepconv {

class EncodedReader;

/// In what order rectangles may be asked for.
enum class Access : std::uint8_t {
  random,      ///< any rectangle, any order, several calls at once
  sequential,  ///< full-width rows, ascending, each row once, one call at a time
};

/// Pixels that lie in no file, as they are in one, and in a PNG, JPEG, PPM or BMP, which one thread codes as
/// a whole.
inline constexpr const char* kInMemory = "memory";
inline constexpr const char* kUncompressed = "uncompressed";
inline constexpr const char* kPicture = "picture";

/// What a planner must know of a file's layout.
struct SourceLayout {
  /// What the file stores in one piece: a tile, a strip (full width), or the whole image for a file that
  /// cannot be streamed. {1, 1}: rows one behind the other, of which a rectangle costs its own bytes.
  Extent block{1, 1};
  Access access = Access::random;
  /// False when the file must be decoded as a whole and is held in memory from the first read on.
  bool streams = true;
  /// For people: "tiles of 512 x 512, deflate with horizontal predictor, BigTIFF, little-endian".
  std::string description{};
  /// Whether rows of a block are read alone, as those of an uncompressed tile; else it is decoded whole.
  bool cuts_blocks = false;
  /// What of the file a result will not have or may get wrong, a sentence each: pages, masks, tags that are
  /// left out.
  std::vector<std::string> warnings{};
  /// The elements of the file, where they are none of the pixel types; Reader::read makes spec().type of
  /// them.
  std::optional<SampleType> stored{};
  /// How another file is made like it, where its format has a choice (Format::has_layout).
  std::optional<FileLayout> file{};
  /// What has to be undone to get pixels, for predictions: kInMemory, kUncompressed, a TIFF's codec as it is
  /// described ("deflate"), that of a Zarr's codecs which takes the time ("zstd", "LZ4"), or kPicture.
  std::string codec{kUncompressed};
  /// What blocks are that others may decode: Reader::encoded() is there then.
  std::optional<EncodedTiles> coded{};
  /// A mask of the file hides pixels, which are missing.
  bool has_mask = false;
  /// For a JPEG, or of JPEGs in a TIFF, in colours.
  std::optional<Chroma> chroma{};
  /// It is a JPEG file, which a copy in this format loses some of once more.
  bool is_jpeg = false;
  /// Blocks that the channels of a pixel lie in.
  std::int64_t block_layers = 1;
  /// Blocks hold pixels of several images, too, so that each is touched for all of these.
  bool shares_blocks = false;

  /// The smallest part that is decoded at once.
  Extent unit() const noexcept { return cuts_blocks ? Extent{1, block.cols} : block; }
};

class Reader {
 public:
  virtual ~Reader() = default;

  virtual const ImageSpec& spec() const noexcept = 0;
  virtual const SourceLayout& layout() const noexcept = 0;
  virtual const Metadata& metadata() const noexcept = 0;

  /// Reads and decodes `rect` (inside the image, not empty) into `out`: same extent, spec().channels and
  /// spec().type. Decoding is spread over `executor`. Blocks that `rect` only touches are decoded whole and
  /// cropped; rectangles of whole blocks waste nothing. Thread-safe when layout().access is random. Throws
  /// IoError, which names the file.
  virtual void read(const Rect& rect, const PixelView& out, Executor& executor) = 0;

  /// The pixels of `rect` where they lie already, if that is page-locked memory that stays as it is while the
  /// run lasts; else a view without data. A device copies from there itself, and read() is not called for
  /// them.
  virtual ConstPixelView page_locked(const Rect& rect) const {
    (void)rect;
    return {};
  }
  /// Whether all of the image lies so.
  bool is_page_locked() const { return page_locked(Rect::whole(spec().extent)).data != nullptr; }

  /// The file's blocks as they are stored, which lead to the pixels that read() gives; null unless
  /// layout().coded says how. The reader's own.
  virtual EncodedReader* encoded() noexcept { return nullptr; }

  /// Upper bound of the memory held while reads run on an executor of this concurrency, decoder's own
  /// included, `out` excluded. Part of the plan's ceiling, so it must hold.
  virtual std::int64_t buffer_bytes(int concurrency) const = 0;

  /// Decoded blocks that hold pixels of several images, too, and are decoded once for all of these if so much
  /// is held: all of an image, or a row of them, which is enough where the images are read a row of blocks at
  /// a time.
  struct SharedBlocks {
    std::int64_t all_bytes = 0, row_bytes = 0;  ///< 0 where blocks hold pixels of one image
  };
  virtual SharedBlocks shared_blocks() const noexcept { return {}; }

  /// What was found meanwhile of which a reader has to be told, a sentence each; for when all is read.
  virtual std::vector<std::string> found_in_reading() const { return {}; }

  /// What a run has left of its ceiling: so much may be held besides buffer_bytes(), if it makes decoding
  /// faster. Called once, before the first read.
  virtual void set_cache_budget(std::int64_t bytes) { (void)bytes; }

  /// Bytes of the file behind the pixels, 0 if unknown: for progress and rates.
  virtual std::int64_t stored_bytes() const noexcept { return spec().bytes(); }
  /// When that file was last changed, in nanoseconds since 1970; 0 if there is none or it is unknown.
  virtual std::int64_t changed_ns() const noexcept { return 0; }
};

}  // namespace sepconv
