// Bank conflicts of a tile in shared memory, computed from its shape: the cost of a permutation through a
// shared-memory tile, and the padding that avoids the conflicts.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "kernels/transpose/permutation.hpp"

namespace sepconv {

/// Elements along the three axes of a tile, the last one contiguous. A two-dimensional tile has 1 as its
/// first extent.
using TileExtent = std::array<int, 3>;

/// Number of wavefronts of one warp access. Shared memory has 32 banks of 4-byte words; word k is in bank k
/// modulo 32. An access takes one wavefront for each distinct word in the most requested bank; threads that
/// request the same word share it. Accesses of 8 bytes are served by half warps and those of 16 by quarter
/// warps, so they take at least 2 and 4 wavefronts. `addresses`: byte addresses of the warp's active threads
/// in order, multiples of access_bytes, which is 1, 2, 4, 8 or 16.
int wavefronts(std::span<const std::int64_t> addresses, int access_bytes);

/// Wavefronts beyond the minimum, averaged over the accesses of a tile's warps: 0 without conflicts, 31 if
/// all threads of a warp access different words of one bank.
struct ConflictCount {
  double write = 0;
  double read = 0;
};

/// The shared-memory accesses of a block with one thread per element of the tile. Threads are numbered along
/// the last axis first; 32 consecutive threads form a warp. Each thread writes its element of the input,
/// tile[z][y][x], and then reads its element of the result, whose extent is permuted(tile).
struct TileAccess {
  TileExtent tile{1, 32, 32};
  Permutation permutation;
  int element_bytes = 4;  ///< 1, 2, 4, 8 or 16
};

/// Counts the conflicts for an array of extent `padded` in shared memory. Throws InvalidArgument if `padded`
/// is smaller than the tile along an axis, for an empty tile and for other element sizes.
ConflictCount count_conflicts(const TileAccess& access, const TileExtent& padded);

enum class Conflicts : std::uint8_t { read, read_and_write };

/// The smallest array without such conflicts, with at most 32 elements of padding along an axis. Ties are
/// resolved by the smallest padding of the last axis. Returns nullopt if padding does not help. Throws
/// InvalidArgument as count_conflicts() does.
std::optional<TileExtent> smallest_padding(const TileAccess& access, Conflicts without);

}  // namespace sepconv
