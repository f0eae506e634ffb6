// One directory of a TIFF as a plain struct: what is stored and how, checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/encoded_tiles.hpp"
#include "io/formats.hpp"
#include "io/tiff/block_format.hpp"
#include "io/tiff/tiff_handle.hpp"

namespace sepconv {

/// Blocks that must be coded as a whole stay below this.
inline constexpr std::int64_t kMaxBlockBytes = std::int64_t{2} << 30;

/// The image is cut into a grid of blocks, tiles or strips of full width; planes follow each other in the
/// tables.
struct TiffDirectory {
  ImageSpec spec;  ///< of what the file holds
  AlphaInFile alpha = AlphaInFile::channel;
  std::int64_t mask_of = 0;  ///< the channel of the pixels that its mask is made of, if it has one
  bool is_mask = false;      ///< of another page
  bool big_tiff = false;
  bool tiled = false;
  bool planar = false;
  bool reduced = false;  ///< a smaller level of another image
  BlockFormat block;     ///< of a whole block, also where the image ends inside of it

  bool compressed() const noexcept;
  bool has_mask() const noexcept {
    return alpha == AlphaInFile::mask || alpha == AlphaInFile::channel_and_mask;
  }
  bool drops_alpha() const noexcept { return alpha == AlphaInFile::mask || alpha == AlphaInFile::nothing; }
  /// For the pixels that are written.
  ImageSpec written() const noexcept {
    return {spec.extent, spec.channels + (drops_alpha() ? 1 : 0), spec.type};
  }
  /// Channels of elements: half as many as those of pixels where these are complex.
  std::int64_t channels() const noexcept { return spec.channels / block.type.parts(); }
  std::int64_t planes() const noexcept { return planar ? channels() : 1; }
  /// For the pixels uncompressed, without what fills up tiles.
  std::int64_t stored_bytes() const noexcept {
    return planes() * spec.extent.rows * block.type.bytes_of(spec.extent.cols * block.channels);
  }
  /// The same with what fills up tiles: what an uncompressed page takes of its file.
  std::int64_t block_bytes() const noexcept { return tiled ? block_count() * block.bytes() : stored_bytes(); }
  SampleSpec stored_spec() const noexcept { return {spec.extent, channels(), block.type}; }
  /// For layouts.
  std::optional<SampleType> stored() const noexcept {
    return block.type.is_pixels() ? std::nullopt : std::optional(block.type);
  }
  /// Rows and columns of blocks.
  Extent grid() const noexcept {
    return {ceil_div(spec.extent.rows, block.extent.rows), ceil_div(spec.extent.cols, block.extent.cols)};
  }
  std::int64_t block_count() const noexcept { return planes() * grid().area(); }
  /// Position in the file's tables of the block in this row and column of the grid.
  std::int64_t block_index(std::int64_t plane, std::int64_t grid_row, std::int64_t grid_col) const noexcept {
    return plane * grid().area() + grid_row * grid().cols + grid_col;
  }
  /// The image's pixels in the block.
  Rect block_rect(std::int64_t grid_row, std::int64_t grid_col) const noexcept {
    return Rect{grid_row * block.extent.rows, grid_col * block.extent.cols, block.extent.rows,
                block.extent.cols}
        .intersect(Rect::whole(spec.extent));
  }
  /// Rows of blocks and columns of blocks that `rect` touches.
  Rect grid_rect(const Rect& rect) const noexcept;
  /// The block of a SourceLayout or SinkLayout. Uncompressed strips are rows one behind the other.
  Extent layout_block() const noexcept { return tiled || compressed() ? block.extent : Extent{1, 1}; }
  /// Rows that the file stores for the block: tiles are always whole, the last strip is not.
  std::int64_t stored_rows(std::int64_t grid_row) const noexcept {
    return tiled ? block.extent.rows : block_rect(grid_row, 0).rows;
  }
};

/// Reads the current directory of `handle`. Throws IoError: damaged, or something that sepconv does not read
/// (it says what it does read). `file_bytes` bounds what the directory may claim.
TiffDirectory read_directory(const TiffHandle& handle, std::int64_t file_bytes);

/// For blocks that hold all channels of pixels and are streams of deflate, of zstd or of JPEG; else nothing.
std::optional<EncodedTiles> coded_tiles(const TiffDirectory& directory);

/// "tiles of 512 x 512, deflate with horizontal predictor, BigTIFF, little-endian".
std::string describe(const TiffDirectory& directory);
/// "deflate", or "compression 34712 (JPEG 2000)" for those that are not read.
std::string codec_name(std::uint16_t compression);

}  // namespace sepconv
