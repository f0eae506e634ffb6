// The blocks of an array that is read: found in chunks and shards, decoded, and kept for a while. Private to
// this folder.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/memory.hpp"
#include "io/lease_pool.hpp"
#include "io/zarr/lru_cache.hpp"
#include "io/zarr/zarr_array.hpp"
#include "io/zarr/zarr_codecs.hpp"

namespace sepconv {

/// Thread-safe; what readers of an array's images have in common.
class ZarrSource {
 public:
  /// `key` is the array's. `refuses_holes`: a block that is not stored is an IoError.
  ZarrSource(std::shared_ptr<const ZarrStore> store, std::string key, ZarrArray array,
             bool refuses_holes = false);

  const ZarrArray& array() const noexcept { return array_; }
  const ZarrStore& store() const noexcept { return *store_; }
  std::filesystem::path name() const { return store_->name_of(key_); }

  /// The elements of the block at this position of the grid of blocks, in the order of ZarrArray::order and
  /// in this machine's byte order. Null for a hole, which is nothing but fill values. `again`: somebody will
  /// ask once more. Throws IoError.
  std::shared_ptr<const Buffer> block(const ZarrShape& position, bool again);

  /// The bytes of a block as they are stored: how many, 0 for a hole, and those. Throws IoError.
  std::int64_t stored_bytes(const ZarrShape& position);
  void read_stored(const ZarrShape& position, std::span<std::byte> to);

  /// What one that is kept takes, with its key and its place among the others.
  std::int64_t kept_bytes() const noexcept { return array_.block_bytes() + kOfKept; }
  /// How much of decoded blocks is kept; at first nothing.
  void keep(std::int64_t bytes) { blocks_.resize(bytes); }

  /// Upper bound of what it holds while this many threads ask, besides what keep() said.
  std::int64_t memory_bytes(int threads) const;

 private:
  static constexpr std::int64_t kOfKept = 512;
  /// An object and the places of its parts, offset and bytes in turns.
  struct Shard {
    std::shared_ptr<const ZarrObject> object;
    std::vector<std::uint64_t> places;
  };
  struct Place {
    std::shared_ptr<const ZarrObject> object;  ///< null for a hole
    std::int64_t offset = 0, bytes = 0;
  };

  /// `key`: of a block of its own. Throws IoError for more bytes than a block can be encoded to.
  Place find(const ZarrShape& position, const std::string& key);
  Place place_of(const ZarrShape& position, const std::string& key);
  [[noreturn]] void throw_damaged(const ZarrShape& position, const std::string& fact) const;
  std::string key_of(const ZarrShape& position) const;
  std::shared_ptr<const Shard> shard(const ZarrShards& level, std::int64_t parts, const Place& place,
                                     const std::string& key);
  Buffer take_buffer();

  std::shared_ptr<const ZarrStore> store_;
  std::string key_;
  ZarrArray array_;
  bool refuses_holes_;
  ObjectPool<ZarrCoder> coders_;
  std::mutex idle_lock_;
  std::vector<Buffer> idle_;
  LruCache<std::string, Shard> shards_;
  LruCache<std::string, Buffer> blocks_;
};

}  // namespace sepconv
