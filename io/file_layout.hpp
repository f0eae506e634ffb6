// Layout of a file: codecs, blocks, pyramid levels.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/geometry.hpp"

namespace sepconv {

enum class Compression : std::uint8_t { none, lzw, deflate, zstd, jpeg, packbits };
std::string_view name_of(Compression compression) noexcept;
std::optional<Compression> parse_compression(std::string_view name) noexcept;

/// Levels of a compression; FileLayout::level 0 means `usual`.
struct LevelRange {
  int least = 0, greatest = 0, usual = 0;
};
LevelRange levels_of(Compression compression) noexcept;

/// Chroma subsampling of a JPEG: pixels of a row and of a column that share a chroma sample.
struct Chroma {
  std::uint8_t cols = 2, rows = 2;
  friend bool operator==(const Chroma&, const Chroma&) = default;
};
/// "4:4:4", "4:2:2", "4:2:0", "4:4:0", "4:1:1", else "2 x 4 pixels".
std::string name_of(Chroma chroma);
/// From this quality on chroma is not subsampled by default.
inline constexpr int kFullChromaQuality = 95;

struct Codec {
  Compression compression = Compression::none;
  int level = 0;
  std::optional<Chroma> chroma{};
};
/// "lzw", "deflate", "deflate:9", "deflate:fast", "deflate:best", "zstd:19", "zstd:fast",
/// "jpeg:85", "jpeg:85:444". Throws InvalidArgument.
Codec parse_codec(std::string_view text);

/// Number of positions along an axis in a block.
struct AxisPositions {
  std::string axis;  ///< as RasterAxis::name, or "c" for the channels of a pixel
  std::int64_t count = 1;
  bool is_explicit = false;  ///< requested explicitly, even if the axis is shorter

  friend bool operator==(const AxisPositions&, const AxisPositions&) = default;
};
/// The entry of this axis; null if it is missing.
const AxisPositions* find_positions(const std::vector<AxisPositions>& of, std::string_view axis) noexcept;
/// "t 2, z 30"
std::string to_string(const std::vector<AxisPositions>& positions);

/// Requested shape of a file's blocks.
struct BlockShape {
  std::optional<Extent> sides{};        ///< 0 x 0: no blocks
  std::vector<AxisPositions> others{};  ///< along axes besides y and x
};
/// "512", "512x256" (rows x columns), "z=16,512x256", "z=16,y=512,x=256", "z=16", and "0". Throws
/// InvalidArgument.
BlockShape parse_block_shape(std::string_view text);

/// Location of the smaller pyramid levels. Each level has half the sides (rounded up) of the one before; the
/// last fits into a tile.
enum class Levels : std::uint8_t {
  none,
  behind,  ///< in pages after the image, as GDAL's overviews
  inside,  ///< in sub-IFDs of the image, as in OME-TIFF
  cloud,  ///< as `behind`, with all directories at the beginning of the file, then the pixels of the smallest
          ///< level first: a Cloud Optimized GeoTIFF
};
/// Label images of an OME-Zarr source. A result that is an OME-Zarr, too, gets them if its pixels have the
/// positions of the source and its levels are the source's or a single one.
struct LabelImages {
  std::filesystem::path folder{};  ///< folder of the source's labels; empty if they are not copied
  std::int64_t levels = 1;         ///< levels of the image and of each label image
  std::string left_out{};          ///< warning if they are not copied
};
/// Options of Zarr only.
struct ZarrLayout {
  int version = 0;  ///< 2 or 3. 0: version 3, and none of these options comes from a source or the caller
  /// Sides of a shard, a multiple of the chunk's; empty without shards.
  Extent shard{};
  /// Positions of a chunk and of a shard along axes besides y and x. A missing axis has one position in a
  /// chunk, but pixels have all their channels.
  std::vector<AxisPositions> chunk_others{}, shard_others{};
  std::string codecs{};  ///< bytes-to-bytes codecs as JSON of version 3; empty: FileLayout::compression
  /// Fill value of missing chunks, as JSON of version 3. Empty or unsuitable for the type: 0. "null": a
  /// result of version 2 has no fill value and stores all chunks.
  std::string fill{};
  int fill_version = 0;  ///< version of the array that `fill` comes from; 0 for a result's own
  bool big_endian = false;
  bool is_array = false;        ///< a plain array without levels instead of an OME-Zarr group
  bool v2_chunk_keys = false;   ///< chunk keys "0/1" instead of "c/0/1" in version 3
  char separator = 0;           ///< in chunk keys; 0: '/'
  bool index_at_start = false;  ///< the index is at the beginning of shards
  /// Order of the axes in a chunk, slowest first: y, x, c, and digits from '0' on for other axes. Empty: C
  /// order.
  std::string order{};
  /// Names of an array's axes; empty: "y", "x", and "c" or "s".
  std::string rows_name{}, cols_name{}, channels_name{};
  bool keeps_channel = false;  ///< an array has a channel axis even for a single channel
  LabelImages labels{};
  bool is_consolidated = false;  ///< the group has consolidated metadata, as zarr-python writes it
  bool nests_shards = false;     ///< the source's shards are nested; never for a result
};

struct FileLayout {
  bool tiled = false;
  Extent tile{512, 512};            ///< tile size, when tiled
  std::int64_t rows_per_strip = 0;  ///< when not tiled; 0: chosen automatically
  Compression compression = Compression::none;
  /// deflate: deflate::kAutomatic (0), deflate::kFast or libdeflate's 1 to 12; zstd: zstd::kFast or 1 to
  /// 22, 0 is 1; JPEG: quality, 0 is 90.
  int level = 0;
  Chroma chroma{};        ///< of JPEG
  bool predictor = true;  ///< horizontal (integers) or floating-point predictor with lzw, deflate, zstd
  bool planar = false;    ///< channels in separate planes instead of interleaved
  Levels levels = Levels::none;
  /// Levels are subsampled (nearest neighbour) instead of averaged, for label images.
  bool nearest_levels = false;
  ZarrLayout zarr{};  ///< for Zarr sources and results
};

/// Extents of the smaller levels of an image, the largest first; empty if the layout has none.
std::vector<Extent> level_extents(Extent image, const FileLayout& layout);

}  // namespace sepconv
