// What the metadata of a Zarr array say, of version 2 (.zarray, https://zarr-specs.readthedocs.io, "v2") and
// of version 3 (zarr.json, "Zarr core specification 3.1", with sharding_indexed). Private to io.
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

/// From bytes to bytes.
struct ZarrCodec {
  enum class Kind : std::uint8_t { blosc, zstd, gzip, zlib, lz4, crc32c };
  Kind kind = Kind::zstd;
  int level = 0;
  std::optional<deflate::Raster> raster{};  ///< of what is encoded without a search
  std::string blosc_codec{};                ///< "lz4", "zstd", ...
  int blosc_shuffle = 0;                    ///< 0 none, 1 bytes, 2 bits
  std::int64_t blosc_type_size = 1;         ///< bytes that are shuffled
  bool checked = false;                     ///< zstd: frames end with a checksum

  friend bool operator==(const ZarrCodec&, const ZarrCodec&) = default;
};
std::string name_of(const ZarrCodec& codec);

using ZarrShape = std::vector<std::int64_t>;
/// An element in its first bytes, in this machine's byte order.
using ZarrElement = std::array<std::byte, 16>;

/// What an object is cut into. All shapes count along the axes of the array.
struct ZarrShards {
  ZarrShape inner;         ///< shape of a part
  std::vector<int> order;  ///< axes of the array in the order in which the index counts its parts
  bool index_at_start = false;
  bool index_big_endian = false;
  bool index_checked = true;  ///< a crc32c follows it

  friend bool operator==(const ZarrShards&, const ZarrShards&) = default;
};

struct ZarrArray {
  int version = 3;
  ZarrShape shape;
  ZarrShape chunk;                 ///< of an object of the store
  std::vector<ZarrShards> shards;  ///< how that is cut, and its parts in turn; usually none or one
  SampleType type = PixelType::u8;
  bool big_endian = false;
  std::vector<int> order;  ///< axes of the array in the order in which a block's elements lie, slowest first
  std::vector<ZarrCodec> codecs;  ///< of a block, in the order of encoding
  ZarrElement fill{};             ///< the element that is nowhere stored
  /// Not of version 2 where it says null: what is not stored is undefined then. It is read as 0, and results
  /// store every chunk.
  bool has_fill = true;
  std::vector<std::string> names;  ///< of the axes; empty, or "" for one that has none
  bool keys_of_v2 = false;         ///< "0.1", not "c/0/1"
  char separator = '/';
  std::string attributes = "{}";  ///< a JSON object
  std::string as_texts{};         ///< numbers of the metadata that are texts there: see JsonFile::parse()

  /// What is encoded as one.
  const ZarrShape& block() const noexcept { return shards.empty() ? chunk : shards.back().inner; }
  std::int64_t block_bytes() const noexcept;
  /// Elements from one to the next in it, along each axis.
  ZarrShape block_steps() const;
  /// The key of a chunk below that of the array.
  std::string key_of(const ZarrShape& position) const;
  /// Whether one of its chunks, or shards, has this key.
  bool has_key(std::string_view key) const;
};

inline constexpr std::int64_t kMaxZarrAxes = 32;
/// For a chunk.
inline constexpr std::int64_t kMaxChunkBytes = std::int64_t{1} << 40;
/// For a shard: its index has to be held.
inline constexpr std::int64_t kMaxShardParts = std::int64_t{1} << 24;
/// How many blocks of one shape another holds; more than kMaxShardParts where they are more than can be
/// counted.
std::int64_t shard_parts(const ZarrShape& outer, const ZarrShape& inner) noexcept;
/// For a node, with what it says of all below it: of a plate some 20 MB.
inline constexpr std::int64_t kMaxZarrJson = std::int64_t{64} << 20;

/// What a key of a store is.
struct ZarrNode {
  std::optional<ZarrArray> array{};  ///< else a group
  int version = 3;
  std::string attributes = "{}";  ///< of the group
  std::string as_texts{};         ///< likewise
  bool is_consolidated = false;   ///< the group says what is below it, too
};

/// xarray's attribute of their names.
inline constexpr const char* kAxesOfVersion2 = "_ARRAY_DIMENSIONS";

/// Nothing where neither version has its metadata. Throws IoError, one sentence that names the file, for what
/// is damaged and for what this library lacks, by its name.
std::optional<ZarrNode> read_zarr_node(const ZarrStore& store, const std::string& key);

ZarrArray parse_zarr2(const std::string& zarray, const std::string& attributes,
                      const std::filesystem::path& name);
ZarrNode parse_zarr3(const std::string& text, const std::filesystem::path& name);

/// "uint16", as version 3 calls it.
const char* zarr_data_type(SampleType type) noexcept;

/// The element that this JSON value is in a version; nothing if it is none of the type.
std::optional<ZarrElement> zarr_fill(const std::string& text, SampleType type, int version);
/// And back. Version 2 has no bits of a NaN ("0x7fc00001"), so that any is "NaN" there.
std::string zarr_fill_text(const ZarrElement& element, SampleType type, int version);

}  // namespace sepconv
