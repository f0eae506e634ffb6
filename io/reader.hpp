// Source of pixels, read by rectangle. Independent of stages, bands and devices.
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

/// Order in which rectangles may be read.
enum class Access : std::uint8_t {
  random,      ///< any rectangle in any order; concurrent calls are allowed
  sequential,  ///< full-width rows in ascending order, each row once; no concurrent calls
};

/// Values of SourceLayout::codec: pixels in memory; uncompressed in a file; and pictures (PNG, JPEG, PPM,
/// BMP), which one thread encodes or decodes as a whole.
inline constexpr const char* kInMemory = "memory";
inline constexpr const char* kUncompressed = "uncompressed";
inline constexpr const char* kPicture = "picture";

/// Properties of a file's layout that planning needs.
struct SourceLayout {
  /// Size of the blocks of the file: a tile, a strip (full width), or the whole image if it cannot be
  /// streamed. {1, 1}: contiguous rows; a rectangle costs only its own bytes.
  Extent block{1, 1};
  Access access = Access::random;
  /// False if the file must be decoded as a whole and is buffered in memory from the first read on.
  bool streams = true;
  /// Readable text: "tiles of 512 x 512, deflate with horizontal predictor, BigTIFF, little-endian".
  std::string description{};
  /// Whether rows of a block can be read separately, as in an uncompressed tile; otherwise blocks are decoded
  /// as a whole.
  bool partial_blocks = false;
  /// Warnings about contents of the file that a result will lack or get wrong: pages, masks, ignored tags.
  std::vector<std::string> warnings{};
  /// Element type of the file if it is not a pixel type; Reader::read() converts to spec().type.
  std::optional<SampleType> stored{};
  /// Layout for creating a similar file, if the format has a choice (Format::has_layout).
  std::optional<FileLayout> file{};
  /// Codec, for predictions: kInMemory, kUncompressed, a TIFF's codec as in descriptions ("deflate"), the
  /// slowest codec of a Zarr ("zstd", "LZ4"), or kPicture.
  std::string codec{kUncompressed};
  /// Encoding of blocks that a GPU can decode; Reader::encoded() is not null then.
  std::optional<EncodedTiles> coded{};
  /// Whether a mask of the file marks missing pixels.
  bool has_mask = false;
  /// Chroma subsampling of a colour JPEG or of colour JPEGs in a TIFF.
  std::optional<Chroma> chroma{};
  /// Whether it is a JPEG file, so that a copy in this format loses quality again.
  bool is_jpeg = false;
  /// Number of blocks that contain the channels of a pixel.
  std::int64_t block_layers = 1;
  /// Whether a block contains pixels of several images and is decoded for each of them.
  bool blocks_shared_by_images = false;

  /// The smallest unit of decoding.
  Extent unit() const noexcept { return partial_blocks ? Extent{1, block.cols} : block; }
};

class Reader {
 public:
  virtual ~Reader() = default;

  virtual const ImageSpec& spec() const noexcept = 0;
  virtual const SourceLayout& layout() const noexcept = 0;
  virtual const Metadata& metadata() const noexcept = 0;

  /// Reads and decodes `rect` (inside the image, not empty) into `out`, which has the same extent,
  /// spec().channels and spec().type. Decodes in parallel on `executor`. Blocks that `rect` contains
  /// partially are decoded as a whole and cropped. Thread-safe if layout().access is random. Throws IoError
  /// that names the file.
  virtual void read(const Rect& rect, const PixelView& out, Executor& executor) = 0;

  /// A view of the pixels of `rect` if they are in page-locked memory that stays unchanged during the run;
  /// else a view without data. Devices copy from the view, and read() is not called.
  virtual ConstPixelView page_locked(const Rect& rect) const {
    (void)rect;
    return {};
  }
  /// Whether page_locked() has the whole image.
  bool is_page_locked() const { return page_locked(Rect::whole(spec().extent)).data != nullptr; }

  /// The encoded blocks of the file; null unless layout().coded is set. Owned by the reader.
  virtual EncodedReader* encoded() noexcept { return nullptr; }

  /// Upper bound of memory during reads on an executor of this concurrency, including the decoder's and
  /// excluding `out`. Used for the memory limit of plans, so it must be reliable.
  virtual std::int64_t buffer_bytes(int concurrency) const = 0;

  /// Memory for decoded blocks that contain pixels of several images, so that they are decoded only once: for
  /// all blocks of an image, or for a row of blocks, which suffices if images are read by rows of blocks.
  struct SharedBlocks {
    std::int64_t all_bytes = 0, row_bytes = 0;  ///< 0 if blocks contain pixels of one image
  };
  virtual SharedBlocks shared_blocks() const noexcept { return {}; }

  /// Warnings found while reading, one sentence each. Call after all reads.
  virtual std::vector<std::string> warnings_after_reading() const { return {}; }

  /// Sets the memory that may be used besides buffer_bytes() to decode faster. Called once, before the first
  /// read.
  virtual void set_cache_budget(std::int64_t bytes) { (void)bytes; }

  /// Bytes of the pixels in the file, 0 if unknown. For progress and rates.
  virtual std::int64_t stored_bytes() const noexcept { return spec().bytes(); }
  /// Modification time of the file in nanoseconds since 1970; 0 without a file or if unknown.
  virtual std::int64_t changed_ns() const noexcept { return 0; }
};

}  // namespace sepconv
