// Bank conflicts of a tile in shared memory, counted from its shape: what a permutation by way of a tile
// costs on the device, and the padding that avoids it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "kernels/transpose/permutation.hpp"

namespace sepconv {

/// Elements along the three axes of a tile, the last one contiguous. A tile of two dimensions has 1 in front.
using TileExtent = std::array<int, 3>;

/// Shared memory has 32 banks of 4-byte words, word k in bank k modulo 32. An access of a warp takes a
/// wavefront for every different word of the bank that is asked for the most; threads that ask for the same
/// word share it. Accesses of 8 bytes go by half warps and those of 16 by quarter warps, so they take 2 and 4
/// wavefronts at least. `addresses`: byte addresses of a warp's active threads in order, multiples of
/// access_bytes, which is 1, 2, 4, 8 or 16.
int wavefronts(std::span<const std::int64_t> addresses, int access_bytes);

/// Wavefronts beyond the smallest that were possible, on average over the accesses of a tile's warps: 0 without
/// conflicts, 31 where all threads of a warp meet in one bank.
struct ConflictCount {
  double write = 0;
  double read = 0;
};

/// A block with a thread for every element of the tile, numbered along the last axis first, a warp being 32
/// consecutive ones. Each writes its element of the input, tile[z][y][x], and then reads its element of the
/// result, of extent permuted(tile).
struct TileAccess {
  TileExtent tile{1, 32, 32};
  Permutation permutation;
  int element_bytes = 4;  ///< 1, 2, 4, 8 or 16
};

/// `padded` is the extent of the array in shared memory, nowhere below the tile's. Throws InvalidArgument for
/// one that is, for an empty tile and for other element sizes.
ConflictCount count_conflicts(const TileAccess& access, const TileExtent& padded);

enum class Conflicts : std::uint8_t { read, read_and_write };

/// The array of fewest elements without such conflicts, with up to 32 elements of padding along an axis; with
/// the smallest padding of the last axis where there are several. None where padding does not help. Throws
/// InvalidArgument as above.
std::optional<TileExtent> smallest_padding(const TileAccess& access, Conflicts without);

}  // namespace sepconv
