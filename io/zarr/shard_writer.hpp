// Shards in the making: where chunks lie in them, and their indices. Private to this folder.
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

/// For a target with one level of shards, of which each has an index; blocks of one image after another. A
/// shard has one writer at a time, as the kernel lets no other into a file, and several shards have one each.
class ShardWriter {
  struct Shard;

 public:
  /// When a block may be written: behind those of its shard that were named before it.
  struct Turn {
    std::int64_t block;  ///< index among those that were named
    Shard* shard;
    std::size_t part;  ///< of the shard
    std::int64_t turn;
  };

  explicit ShardWriter(const ZarrTarget& target) : target_(target) {}

  /// As many blocks are named at once, which bounds what is held of them.
  static constexpr std::int64_t kMaxTurns = 1 << 14;
  /// Turns of the blocks `first` to `end`, whose positions in the grid of blocks are position_of(block), each
  /// once; the first of every shard, then the second of every shard, and so on. To be taken by append() in
  /// this order, and all of them before more are named.
  std::vector<Turn> turns(std::int64_t first, std::int64_t end,
                          const std::function<ZarrShape(std::int64_t)>& position_of);
  /// Waits for the block's turn and writes it, where it is not a hole (no bytes); completes the shard with its
  /// last block. False: stop() was called. Thread-safe, for threads that each take the next turn.
  bool append(const Turn& turn, const ZarrShape& position, std::span<const std::byte> bytes);
  /// Nobody waits for what will not be written. Thread-safe.
  void stop();
  /// Blocks that another process appended, in their order, each with its position and its bytes.
  void restore(std::span<const std::int64_t> placed);
  /// The same of this one, since the last call.
  std::vector<std::int64_t> take_placed() { return std::exchange(placed_, {}); }
  /// Throws std::logic_error if a shard lacks a block.
  void check_complete() const;

  static std::int64_t memory_bytes(const ZarrTarget& target);

 private:
  struct Shard {
    std::string key;
    std::vector<std::uint64_t> places;  ///< offset and bytes, in turns
    std::int64_t first = 0, end = 0;    ///< of the chunks
    std::int64_t blocks = 0, named = 0, written = 0;
  };

  Shard begin(const ZarrShape& chunk) const;
  Turn turn_of(const ZarrShape& block);
  static void put(const Turn& turn, std::int64_t bytes);
  void complete(Shard& shard) const;

  const ZarrTarget& target_;
  std::map<ZarrShape, Shard> shards_;  // a turn leads to its shard
  std::vector<std::int64_t> placed_;
  std::mutex mutex_;
  std::condition_variable passed_on_;
  bool stopped_ = false;
};

}  // namespace sepconv
