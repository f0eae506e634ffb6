// Writes chunks to shards, and the index of each shard. Private to this folder.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/geometry.hpp"
#include "io/zarr/zarr_array.hpp"

namespace sepconv {

struct ZarrTarget;

/// Writes the blocks of one image after another to a target with one level of shards. Each shard has one
/// writing thread at a time, because the kernel serializes writes to a file. Several shards are written in
/// parallel.
class ShardWriter {
  struct Shard;

 public:
  /// The position of a block in its shard's order of writing.
  struct Ticket {
    std::int64_t block;  ///< index in the range passed to tickets()
    Shard* shard;
    std::size_t part;       ///< index of the block in the shard
    std::int64_t sequence;  ///< number of blocks of the shard that must be written before
  };

  explicit ShardWriter(const ZarrTarget& target) : target_(target) {}

  /// Maximum number of tickets per call, which bounds their memory.
  static constexpr std::int64_t kMaxTickets = 1 << 14;
  /// Tickets for the blocks `first` to `end`, at position_of(block) in the grid of blocks: the first block of
  /// every shard, then the second of every shard, and so on. The caller must start append() for them in this
  /// order, and finish all before it calls tickets() again.
  std::vector<Ticket> tickets(std::int64_t first, std::int64_t end,
                              const std::function<ZarrShape(std::int64_t)>& position_of);
  /// Waits until the previous blocks of the shard are written, and appends this one unless it is a hole
  /// (empty). Completes the shard after its last block. Returns false if stop() was called. Thread-safe.
  bool append(const Ticket& ticket, const ZarrShape& position, std::span<const std::byte> bytes);
  /// Makes all append() calls return. Thread-safe.
  void stop();
  /// Restores the state of another process: the position and byte count of each block in order of appending.
  void restore(std::span<const std::int64_t> appended);
  /// The blocks appended since the last call, in the format of restore().
  std::vector<std::int64_t> take_appended() { return std::exchange(appended_, {}); }
  /// Throws std::logic_error if a shard lacks a block.
  void check_complete() const;

  /// Upper bound of the memory for the shards of `target`.
  static std::int64_t memory_bytes(const ZarrTarget& target);

 private:
  struct Shard {
    std::string key;
    std::vector<std::uint64_t> index;  ///< the index: offset and byte count of each block
    std::int64_t first = 0, end = 0;   ///< file offsets of the data
    std::int64_t blocks = 0, issued = 0, written = 0;
  };

  Shard start_shard(const ZarrShape& chunk) const;
  Ticket ticket_for(const ZarrShape& block);
  static void add_index_entry(const Ticket& ticket, std::int64_t bytes);
  void complete(Shard& shard) const;

  const ZarrTarget& target_;
  std::map<ZarrShape, Shard> shards_;  // a map, because tickets point to its shards
  std::vector<std::int64_t> appended_;
  std::mutex mutex_;
  std::condition_variable progress_;
  bool stopped_ = false;
};

}  // namespace sepconv
