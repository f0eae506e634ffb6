// Shards in the making: where chunks lie in them, and their indices. Private to this folder.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sepconv/core/geometry.hpp"
#include "sepconv/io/zarr/zarr_array.hpp"

namespace sepconv {

struct ZarrTarget;

/// Of one image of a target with one level of shards, whose indices are at their ends. Not thread-safe.
class ShardWriter {
 public:
  using Place = std::pair<std::string, std::int64_t>;  ///< key of the shard, offset in it

  explicit ShardWriter(const ZarrTarget& target) : target_(target) {}

  /// Room for the bytes of the block at this position of the grid of blocks, each once; 0: a hole.
  Place place(const ZarrShape& block, std::int64_t bytes);
  /// Completes the shards of which every block has been placed, and written.
  void complete();
  /// Throws std::logic_error if one lacks a block.
  void check_complete() const;

  static std::int64_t memory_bytes(const ZarrTarget& target);

 private:
  struct Shard {
    std::vector<std::uint64_t> places;  ///< offset and bytes, in turns
    std::int64_t end = 0;
    std::int64_t missing = 0;  ///< blocks
  };

  Shard begin(const ZarrShape& chunk) const;

  const ZarrTarget& target_;
  std::map<ZarrShape, Shard> shards_;
};

}  // namespace sepconv
