// The validated layout of a directory of a TIFF.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/encoded_tiles.hpp"
#include "io/formats.hpp"
#include "io/tiff/block_format.hpp"
#include "io/tiff/tiff_handle.hpp"

namespace sepconv {

/// Upper bound of a block that must be coded as a whole.
inline constexpr std::int64_t kMaxBlockBytes = std::int64_t{2} << 30;

/// The image is divided into a grid of blocks, tiles or strips of full width. Planes follow each other in the
/// block tables.
struct TiffDirectory {
  ImageSpec spec;  ///< of the stored image
  AlphaInFile alpha = AlphaInFile::channel;
  std::int64_t mask_of = 0;  ///< the channel of the pixels that becomes the mask, if the page has one
  bool is_mask = false;      ///< the page is the mask of another page
  bool big_tiff = false;
  bool tiled = false;
  bool planar = false;
  bool reduced = false;  ///< a smaller level of another image
  BlockFormat block;     ///< of a full block, also where the image ends within it

  bool compressed() const noexcept;
  bool has_mask() const noexcept {
    return alpha == AlphaInFile::mask || alpha == AlphaInFile::channel_and_mask;
  }
  bool drops_alpha() const noexcept { return alpha == AlphaInFile::mask || alpha == AlphaInFile::nothing; }
  /// Spec of the pixels passed to the writer.
  ImageSpec written() const noexcept {
    return {spec.extent, spec.channels + (drops_alpha() ? 1 : 0), spec.type};
  }
  /// Channels in elements: half of the pixels' channels if complex.
  std::int64_t channels() const noexcept { return spec.channels / block.type.parts(); }
  std::int64_t planes() const noexcept { return planar ? channels() : 1; }
  /// Uncompressed bytes of the pixels, without padding of tiles.
  std::int64_t stored_bytes() const noexcept {
    return planes() * spec.extent.rows * block.type.bytes_of(spec.extent.cols * block.channels);
  }
  /// Uncompressed bytes with padding of tiles: the size of an uncompressed page in the file.
  std::int64_t block_bytes() const noexcept { return tiled ? block_count() * block.bytes() : stored_bytes(); }
  SampleSpec stored_spec() const noexcept { return {spec.extent, channels(), block.type}; }
  /// The stored type for layouts; null if pixels have that type.
  std::optional<SampleType> stored() const noexcept {
    return block.type.is_pixels() ? std::nullopt : std::optional(block.type);
  }
  /// Rows and columns of blocks.
  Extent grid() const noexcept {
    return {ceil_div(spec.extent.rows, block.extent.rows), ceil_div(spec.extent.cols, block.extent.cols)};
  }
  std::int64_t block_count() const noexcept { return planes() * grid().area(); }
  /// Index in the file's tables of the block in this row and column of the grid.
  std::int64_t block_index(std::int64_t plane, std::int64_t grid_row, std::int64_t grid_col) const noexcept {
    return plane * grid().area() + grid_row * grid().cols + grid_col;
  }
  /// The image's pixels in the block.
  Rect block_rect(std::int64_t grid_row, std::int64_t grid_col) const noexcept {
    return Rect{grid_row * block.extent.rows, grid_col * block.extent.cols, block.extent.rows,
                block.extent.cols}
        .intersect(Rect::whole(spec.extent));
  }
  /// The blocks that `rect` touches, in rows and columns of the grid.
  Rect grid_rect(const Rect& rect) const noexcept;
  /// The block of a SourceLayout or SinkLayout. Uncompressed strips are contiguous rows.
  Extent layout_block() const noexcept { return tiled || compressed() ? block.extent : Extent{1, 1}; }
  /// Rows that the file stores for the block: tiles are always whole, the last strip is not.
  std::int64_t stored_rows(std::int64_t grid_row) const noexcept {
    return tiled ? block.extent.rows : block_rect(grid_row, 0).rows;
  }
};

/// Reads the current directory of `handle`. Throws IoError for damage and for unsupported features (and lists
/// the supported ones). `file_bytes` limits what the directory may claim.
TiffDirectory read_directory(const TiffHandle& handle, std::int64_t file_bytes);

/// Returns the tiles if blocks contain all channels of pixels and are deflate, zstd or JPEG streams;
/// otherwise null.
std::optional<EncodedTiles> coded_tiles(const TiffDirectory& directory);

/// "tiles of 512 x 512, deflate with horizontal predictor, BigTIFF, little-endian".
std::string describe(const TiffDirectory& directory);
/// "deflate", or "compression 34712 (JPEG 2000)" for unsupported ones.
std::string codec_name(std::uint16_t compression);

}  // namespace sepconv
