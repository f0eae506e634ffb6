// The classic ladders of transposition: kernels that are not fast but that one can learn from, kept to be
// measured next to transpose_cuda and permute_cuda on the user's own GPU (sepconv bench transpose), and the
// plain loops that a host begins with. Elements of 1, 2, 4 and 8 bytes; any lengths, up to 2^31 - 1 elements.
#pragma once

#include <string_view>

#include "kernels/transpose/bank_conflicts.hpp"
#include "kernels/transpose/permutation.hpp"

namespace sepconv {

/// The kernels count in 32 bits, and go up to a tile beyond the last element.
inline constexpr std::int64_t kMaxLadderElements = (std::int64_t{1} << 31) - 64;

/// Kernels for a matrix; a tile is staged in shared memory. "Padded" tiles have one column more than they
/// use, so that a warp that reads down a column meets every bank once.
enum class TransposeRung : std::uint8_t {
  one_thread,         ///< the whole matrix by one thread of the GPU
  thread_a_row,       ///< a thread per row of the input
  thread_an_element,  ///< blocks of 32 x 32 threads; reads neighbours, writes down a column
  copy,               ///< no transposition: 32 x 32 elements by 32 x 8 threads
  copy_shared,        ///< no transposition, through a tile
  tiled_32,           ///< tile of 32 x 32, a thread per element
  tiled_32_padded,
  tiled_16,  ///< tile of 16 x 16, a thread per element
  tiled_16_padded,
  coalesced,  ///< tile of 32 x 32 by 32 x 8 threads, four elements each
  coalesced_padded,
  tiled_8_padded,  ///< tile of 8 x 8, a thread per element: next to the 8 x 8 x 8 tile of the permutations
};
std::string_view name_of(TransposeRung rung) noexcept;

/// Whether the rung leaves the matrix as it is, for comparison.
constexpr bool only_copies(TransposeRung rung) noexcept {
  return rung == TransposeRung::copy || rung == TransposeRung::copy_shared;
}

/// transpose_cuda by one rung: views, stream and errors as there. Rungs that only copy write shape.rows rows
/// of shape.cols to `out`. Throws InvalidArgument too for elements of other sizes, for addresses and
/// distances that are not multiples of an element, and for more elements than the kernels can count.
void transpose_ladder(TransposeRung rung, const TransposeShape& shape, ConstMatrices in, Matrices out,
                      DeviceStream stream);

/// Kernels for the permutations of a tensor: blocks of 8 x 8 x 8 threads, a thread per element, but for the
/// last two.
enum class PermuteRung : std::uint8_t {
  copy,         ///< no permutation
  copy_shared,  ///< no permutation, through a tile
  simple,  ///< every thread writes to where its element belongs; the permutation is a parameter of the launch
  simple_template,  ///< the same, compiled for every permutation
  shared,  ///< through a tile of 8 x 8 x 8, so that neighbours write neighbours; the permutation is a
           ///< parameter
  shared_template,  ///< the same, compiled for every permutation
  conflict_free,    ///< the same, in an array with padding against bank conflicts
  tile_2d_32,       ///< every slice that is a transposed matrix, by TransposeRung::coalesced_padded
  tile_2d_8,        ///< and by TransposeRung::tiled_8_padded
};
std::string_view name_of(PermuteRung rung) noexcept;

constexpr bool only_copies(PermuteRung rung) noexcept {
  return rung == PermuteRung::copy || rung == PermuteRung::copy_shared;
}
/// The tiles of two axes can do what moves the last axis.
constexpr bool can_permute(PermuteRung rung, const Permutation& permutation) noexcept {
  return (rung != PermuteRung::tile_2d_32 && rung != PermuteRung::tile_2d_8) || permutation.axes[2] != 2;
}

/// The array in shared memory that a rung keeps its tile of 8 x 8 x 8 in: for conflict_free with the padding
/// that the conflict counter finds, against conflicts of reads and writes where there is one, else of reads.
/// Takes milliseconds.
TileExtent ladder_tile(PermuteRung rung, const Permutation& permutation, std::int64_t element_bytes);

/// permute_cuda by one rung: memory, stream and errors as there; `tile` is what ladder_tile() gave. Rungs
/// that only copy leave the order as it is. Throws InvalidArgument too where the rung cannot do it, for a
/// tile below 8 x 8 x 8 or beyond 48 KiB and, as transpose_ladder, for other elements and for too many.
void permute_ladder(PermuteRung rung, const TileExtent& tile, const TensorExtent& extent,
                    const Permutation& permutation, std::int64_t element_bytes, const std::byte* in,
                    std::byte* out, DeviceStream stream);

/// permute_host by plain loops over the input, as one writes them at first; its rows are shared by the
/// executor's threads. Elements of 1, 2, 4 and 8 bytes, aligned; throws InvalidArgument for others.
void permute_loop(const TensorExtent& extent, const Permutation& permutation, std::int64_t element_bytes,
                  const std::byte* in, std::byte* out, Executor& executor);

}  // namespace sepconv
