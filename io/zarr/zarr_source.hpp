// Reads the blocks of an array: locates them in chunks and shards, decodes and caches them. Private to this
// folder.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/memory.hpp"
#include "io/object_pool.hpp"
#include "io/zarr/lru_cache.hpp"
#include "io/zarr/zarr_array.hpp"
#include "io/zarr/zarr_codecs.hpp"

namespace sepconv {

/// Shared by the readers of an array's images. Thread-safe.
class ZarrSource {
 public:
  /// `key`: of the array. `refuses_holes`: throws IoError for a block that is not stored.
  ZarrSource(std::shared_ptr<const ZarrStore> store, std::string key, ZarrArray array,
             bool refuses_holes = false);

  const ZarrArray& array() const noexcept { return array_; }
  const ZarrStore& store() const noexcept { return *store_; }
  std::filesystem::path name() const { return store_->name_of(key_); }

  /// The elements of the block at this position of the grid of blocks, in ZarrArray::order and native byte
  /// order. Null for a hole, which contains only fill values. `will_reuse`: caches the block. Throws IoError.
  std::shared_ptr<const Buffer> block(const ZarrShape& position, bool will_reuse);

  /// The number of encoded bytes of a block, 0 for a hole; and the encoded bytes. Both throw IoError.
  std::int64_t stored_bytes(const ZarrShape& position);
  void read_stored(const ZarrShape& position, std::span<std::byte> to);

  /// The memory of a cached block, with its key and its entry in the cache.
  std::int64_t cached_block_bytes() const noexcept { return array_.block_bytes() + kCacheEntryBytes; }
  /// Sets the cache size for decoded blocks, initially 0.
  void set_cache_bytes(std::int64_t bytes) { blocks_.resize(bytes); }

  /// Upper bound of the memory for this many threads, without the cache of decoded blocks.
  std::int64_t memory_bytes(int threads) const;

 private:
  static constexpr std::int64_t kCacheEntryBytes = 512;
  /// An object and its index: offset and byte count of each part.
  struct Shard {
    std::shared_ptr<const ZarrObject> object;
    std::vector<std::uint64_t> index;
  };
  struct Location {
    std::shared_ptr<const ZarrObject> object;  ///< null for a hole
    std::int64_t offset = 0, bytes = 0;
  };

  /// Locates a block; `key`: of the block if the array has no shards. Throws IoError if it has more bytes
  /// than an encoded block can have.
  Location locate(const ZarrShape& position, const std::string& key);
  Location locate_unchecked(const ZarrShape& position, const std::string& key);
  [[noreturn]] void throw_damaged(const ZarrShape& position, const std::string& fact) const;
  std::string chunk_key(const ZarrShape& position) const;
  std::shared_ptr<const Shard> shard(const ZarrShards& level, std::int64_t parts, const Location& location,
                                     const std::string& key);
  Buffer acquire_buffer();

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
