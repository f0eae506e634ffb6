// The metadata of a Zarr array: version 2 (.zarray, https://zarr-specs.readthedocs.io, "v2") and version 3
// (zarr.json, "Zarr core specification 3.1", with sharding_indexed). Private to io.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/deflate/matches.hpp"
#include "io/sample_type.hpp"
#include "io/zarr/zarr_store.hpp"

namespace sepconv {

/// A bytes-to-bytes codec.
struct ZarrCodec {
  enum class Kind : std::uint8_t { blosc, zstd, gzip, zlib, lz4, crc32c };
  Kind kind = Kind::zstd;
  int level = 0;
  std::optional<deflate::MatchDistances>
      raster{};                      ///< layout of pixels, for the fast encoder without match search
  std::string blosc_codec{};         ///< "lz4", "zstd", ...
  int blosc_shuffle = 0;             ///< 0 none, 1 bytes, 2 bits
  std::int64_t blosc_type_size = 1;  ///< bytes of an element for the shuffle
  bool checked = false;              ///< zstd: frames end with a checksum

  friend bool operator==(const ZarrCodec&, const ZarrCodec&) = default;
};
std::string name_of(const ZarrCodec& codec);

using ZarrShape = std::vector<std::int64_t>;
/// An element in the first bytes of an array, in native byte order.
using ZarrElement = std::array<std::byte, 16>;

/// How an object is divided into parts. The axes of all shapes are in the order of the array.
struct ZarrShards {
  ZarrShape inner;         ///< shape of a part
  std::vector<int> order;  ///< axes of the array in the order in which the index lists the parts
  bool index_at_start = false;
  bool index_big_endian = false;
  bool index_checked = true;  ///< a crc32c follows it

  friend bool operator==(const ZarrShards&, const ZarrShards&) = default;
};

struct ZarrArray {
  int version = 3;
  ZarrShape shape;
  ZarrShape chunk;  ///< shape of an object of the store
  std::vector<ZarrShards>
      shards;  ///< nested divisions of an object, the outermost first; at most one is usual
  SampleType type = PixelType::u8;
  bool big_endian = false;
  std::vector<int> order;         ///< axes of the array in the element order of a block, slowest first
  std::vector<ZarrCodec> codecs;  ///< of a block, in the order of encoding
  ZarrElement fill{};             ///< the value of elements that are not stored
  /// False in version 2 if fill_value is null: elements that are not stored are undefined. They are read as
  /// 0, and results store every chunk.
  bool has_fill = true;
  std::vector<std::string> names;  ///< of the axes; empty, or "" for an axis without a name
  bool v2_chunk_keys = false;      ///< "0.1", not "c/0/1"
  char separator = '/';
  std::string attributes = "{}";  ///< a JSON object
  std::string quoted_numbers{};   ///< numbers that were converted to strings: see JsonFile::parse()

  /// The shape of a block, which is encoded separately: a chunk, or the innermost part of a shard.
  const ZarrShape& block() const noexcept { return shards.empty() ? chunk : shards.back().inner; }
  std::int64_t block_bytes() const noexcept;
  /// The strides of a block along each axis, in elements.
  ZarrShape block_steps() const;
  /// The key of a chunk, relative to the key of the array.
  std::string chunk_key(const ZarrShape& position) const;
  /// Whether this is the key of a chunk or shard.
  bool has_key(std::string_view key) const;
};

inline constexpr std::int64_t kMaxZarrAxes = 32;
inline constexpr std::int64_t kMaxChunkBytes = std::int64_t{1} << 40;
/// Limits the index of a shard, which is held in memory.
inline constexpr std::int64_t kMaxShardParts = std::int64_t{1} << 24;
/// The number of inner shapes in an outer one; kMaxShardParts + 1 if it overflows.
std::int64_t shard_parts(const ZarrShape& outer, const ZarrShape& inner) noexcept;
/// Maximum size of a metadata file. With consolidated metadata, a plate's is about 20 MB.
inline constexpr std::int64_t kMaxZarrJson = std::int64_t{64} << 20;

/// The array or group at a key of a store.
struct ZarrNode {
  std::optional<ZarrArray> array{};  ///< null for a group
  int version = 3;
  std::string attributes = "{}";  ///< of the group, a JSON object
  std::string quoted_numbers{};   ///< see ZarrArray
  bool is_consolidated = false;   ///< the group has consolidated metadata
};

/// xarray's attribute for axis names in version 2.
inline constexpr const char* kArrayDimensions = "_ARRAY_DIMENSIONS";

/// The node at a key; null if there are no metadata of either version. Throws IoError, which names the file,
/// for damaged metadata and for unsupported features.
std::optional<ZarrNode> read_zarr_node(const ZarrStore& store, const std::string& key);

ZarrArray parse_zarr2(const std::string& zarray, const std::string& attributes,
                      const std::filesystem::path& name);
ZarrNode parse_zarr3(const std::string& text, const std::filesystem::path& name);

/// The name of a type in version 3, e.g. "uint16".
const char* zarr_data_type(SampleType type) noexcept;

/// Parses a fill value in JSON; null if it is not a value of the type.
std::optional<ZarrElement> parse_zarr_fill(const std::string& text, SampleType type, int version);
/// Formats a fill value as JSON. Version 2 cannot represent the bits of a NaN ("0x7fc00001"), so every NaN is
/// "NaN".
std::string format_zarr_fill(const ZarrElement& element, SampleType type, int version);

}  // namespace sepconv
