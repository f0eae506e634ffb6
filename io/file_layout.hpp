// How a file is laid out, for those who make another like it.
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

/// What a compression takes as FileLayout::level besides 0, which is `usual`.
struct LevelRange {
  int least = 0, greatest = 0, usual = 0;
};
LevelRange levels_of(Compression compression) noexcept;

/// For a JPEG: how many pixels of a row, and of a column, share a sample of colour.
struct Chroma {
  std::uint8_t cols = 2, rows = 2;
  friend bool operator==(const Chroma&, const Chroma&) = default;
};
/// "4:4:4", "4:2:2", "4:2:0", "4:4:0", "4:1:1", else "2 x 4 pixels".
std::string name_of(Chroma chroma);
/// From this quality on each pixel has its own colour where nothing else is asked for.
inline constexpr int kFullChromaQuality = 95;

struct Codec {
  Compression compression = Compression::none;
  int level = 0;
  std::optional<Chroma> chroma{};
};
/// "lzw", "deflate", "deflate:9", "deflate:fast", "deflate:best", "zstd:19", "zstd:fast",
/// "jpeg:85", "jpeg:85:444". Throws InvalidArgument.
Codec parse_codec(std::string_view text);

/// How many positions of an axis are stored together.
struct AxisPositions {
  std::string axis;  ///< as RasterAxis::name; "c" also of the channels of a pixel
  std::int64_t count = 1;
  bool asked_for = false;  ///< so it is also where the axis has fewer

  friend bool operator==(const AxisPositions&, const AxisPositions&) = default;
};
/// For this axis; null if it is not among them.
const AxisPositions* find_positions(const std::vector<AxisPositions>& of, std::string_view axis) noexcept;
/// "t 2, z 30"
std::string to_string(const std::vector<AxisPositions>& positions);

/// What a block of a file is to be.
struct BlockShape {
  std::optional<Extent> sides{};        ///< 0 x 0: none
  std::vector<AxisPositions> others{};  ///< along axes besides y and x
};
/// "512", "512x256" (rows x columns), "z=16,512x256", "z=16,y=512,x=256", "z=16", and "0". Throws
/// InvalidArgument.
BlockShape parse_block_shape(std::string_view text);

/// Where an image's smaller levels are: each has half the sides (rounded up) of the one before, down to what
/// fits into a tile.
enum class Levels : std::uint8_t {
  none,
  behind,  ///< in pages behind the image's, as GDAL's overviews
  inside,  ///< in directories inside of the image's, as OME-TIFF's
  cloud,  ///< behind; all directories at the file's beginning, then the pixels of the smallest level first: a
          ///< Cloud Optimized GeoTIFF
};
/// Label images of an OME-Zarr, which a result has too that is one and has its source's pixels in their
/// places, and its levels or one.
struct LabelImages {
  std::filesystem::path folder{};  ///< of the source's; empty: they do not go along
  std::int64_t levels = 1;         ///< of the image and of each of them
  std::string left_out{};          ///< what is said then
};
/// What only Zarr has.
struct ZarrLayout {
  int version = 0;  ///< 2 or 3; 0: 3, and none of this is asked for or a source's
  /// For an object of the store, which holds whole chunks; empty: chunks are objects of their own.
  Extent shard{};
  /// Along axes besides y and x, of a chunk and of such an object; an axis that is not there has one position
  /// in a chunk, and channels of pixels all of them.
  std::vector<AxisPositions> chunk_others{}, shard_others{};
  std::string codecs{};  ///< JSON as version 3 has it, from bytes to bytes; empty: FileLayout::compression
  /// For what is not stored, as JSON of version 3; empty, or none of the type: 0; "null": a result of version
  /// 2 stores all chunks and has none.
  std::string fill{};
  int fill_version = 0;  ///< of the array that says so; 0: a result's own
  bool big_endian = false;
  bool is_array = false;        ///< and not OME-Zarr's group of one, which has levels
  bool keys_of_v2 = false;      ///< chunks are called "0/1" in version 3, too, and not "c/0/1"
  char separator = 0;           ///< in names of chunks; 0: '/'
  bool index_at_start = false;  ///< of shards
  /// Axes in the order in which elements of a chunk lie, slowest first: y, x, c, and others by their numbers,
  /// from '0' on. Empty: C order.
  std::string order{};
  /// For an array's axes; empty: "y", "x", and "c" or "s".
  std::string rows_name{}, cols_name{}, channels_name{};
  bool keeps_channel = false;  ///< an array has an axis of channels for a single one, too
  LabelImages labels{};
  bool is_consolidated = false;  ///< a group has the metadata of what is below it, too, as zarr-python's
  bool nests_shards = false;     ///< a source's shards are cut into shards; of a result never
};

struct FileLayout {
  bool tiled = false;
  Extent tile{512, 512};            ///< tile size, when tiled
  std::int64_t rows_per_strip = 0;  ///< when not tiled; 0: chosen
  Compression compression = Compression::none;
  /// deflate: deflate::kAutomatic (0), deflate::kFast or libdeflate's 1 to 12; zstd: zstd::kFast or 1 to
  /// 22, 0 is 1; JPEG: quality, 0 is 90.
  int level = 0;
  Chroma chroma{};        ///< of JPEG
  bool predictor = true;  ///< horizontal (integers) or floating-point predictor with lzw, deflate, zstd
  bool planar = false;    ///< channels in planes of their own instead of interleaved
  Levels levels = Levels::none;
  /// Levels have a pixel of four in place of their mean: values are numbers of things (labels).
  bool nearest_levels = false;
  ZarrLayout zarr{};  ///< of a source that is one, and for a result that is
};

/// For an image of this extent the smaller levels, the largest first; none if it is laid out without.
std::vector<Extent> level_extents(Extent image, const FileLayout& layout);

}  // namespace sepconv
