// How a file is laid out, for those who make another like it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sepconv/core/geometry.hpp"

namespace sepconv {

enum class Compression : std::uint8_t { none, lzw, deflate, zstd, jpeg, packbits };
std::string_view name_of(Compression compression) noexcept;
std::optional<Compression> parse_compression(std::string_view name) noexcept;

/// What a compression takes as FileLayout::level beside 0, which is `usual`.
struct LevelRange {
  int least = 0, greatest = 0, usual = 0;
};
LevelRange levels_of(Compression compression) noexcept;

struct Codec {
  Compression compression = Compression::none;
  int level = 0;
};
/// "lzw", "deflate", "deflate:9", "deflate:fast", "deflate:best", "zstd:19", "zstd:fast",
/// "jpeg:85". Throws InvalidArgument.
Codec parse_codec(std::string_view text);

/// Where an image's smaller levels are: each has half the sides (rounded up) of the one before, down to what
/// fits into a tile.
enum class Levels : std::uint8_t {
  none,
  behind,  ///< in pages behind the image's, as GDAL's overviews
  inside,  ///< in directories inside of the image's, as OME-TIFF's
  cloud,  ///< behind; all directories at the file's beginning, then the pixels of the smallest level first: a
          ///< Cloud Optimized GeoTIFF
};
/// What only Zarr has.
struct ZarrLayout {
  int version = 0;  ///< 2 or 3; 0: 3, and none of this is asked for or a source's
  /// Of an object of the store, which holds whole chunks; empty: chunks are objects of their own.
  Extent shard{};
  std::string codecs{};  ///< JSON as version 3 has it, from bytes to bytes; empty: FileLayout::compression
  std::string fill{};    ///< the value of what is not stored, as JSON; empty, or none of the type: 0
  bool big_endian = false;
  bool is_array = false;        ///< and not OME-Zarr's group of one, which has levels
  bool keys_of_v2 = false;      ///< chunks are called "0/1" in version 3, too, and not "c/0/1"
  char separator = 0;           ///< in names of chunks; 0: '/'
  bool index_at_start = false;  ///< of shards
  /// Axes in the order in which elements of a chunk lie, slowest first: y, x, c, and others by their numbers,
  /// from '0' on. Empty: C order.
  std::string order{};
  std::int64_t images = 1;  ///< that a chunk holds; of a result always one
};

struct FileLayout {
  bool tiled = false;
  Extent tile{512, 512};            ///< tile size, when tiled
  std::int64_t rows_per_strip = 0;  ///< when not tiled; 0: chosen
  Compression compression = Compression::none;
  /// deflate: deflate::kAutomatic (0), deflate::kFast or libdeflate's 1 to 12; zstd: zstd::kFast or 1 to
  /// 22, 0 is 1; JPEG: quality, 0 is 90.
  int level = 0;
  bool predictor = true;  ///< horizontal (integers) or floating-point predictor with lzw, deflate, zstd
  bool planar = false;    ///< channels in planes of their own instead of interleaved
  Levels levels = Levels::none;
  ZarrLayout zarr{};  ///< of a source that is one, and for a result that is
};

/// Of an image of this extent the smaller levels, the largest first; none if it is laid out without.
std::vector<Extent> level_extents(Extent image, const FileLayout& layout);

}  // namespace sepconv
