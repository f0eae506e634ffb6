// Transposition and permutation in textbook variants, measured next to transpose_device and permute_device on the
// user's own GPU (sepconv bench transpose), and plain loops on the host. Elements have 1, 2, 4 or 8 bytes;
// lengths are arbitrary, up to kMaxVariantElements elements in total.
#pragma once

#include <string_view>

#include "kernels/transpose/bank_conflicts.hpp"
#include "kernels/transpose/permutation.hpp"

namespace sepconv {

/// The kernels use 32-bit indices, which run up to one tile past the last element.
inline constexpr std::int64_t kMaxVariantElements = (std::int64_t{1} << 31) - 64;

/// Kernels for a matrix; tiles are staged in shared memory. "Padded" tiles have one unused column, so that a
/// warp that reads down a column uses every bank once.
enum class TransposeVariant : std::uint8_t {
  one_thread,          ///< one thread of the GPU transposes the whole matrix
  thread_per_row,      ///< a thread per row of the input
  thread_per_element,  ///< blocks of 32 x 32 threads; reads along rows, writes down columns
  copy,                ///< no transposition: 32 x 32 elements by 32 x 8 threads
  copy_shared,         ///< no transposition, through a tile
  tiled_32,            ///< tile of 32 x 32, a thread per element
  tiled_32_padded,
  tiled_16,  ///< tile of 16 x 16, a thread per element
  tiled_16_padded,
  coalesced,  ///< tile of 32 x 32 by 32 x 8 threads, four elements each
  coalesced_padded,
  tiled_8_padded,  ///< tile of 8 x 8, a thread per element; compares with the 8 x 8 x 8 tile
};
std::string_view name_of(TransposeVariant variant) noexcept;

/// Whether the variant copies without transposing, for comparison.
constexpr bool only_copies(TransposeVariant variant) noexcept {
  return variant == TransposeVariant::copy || variant == TransposeVariant::copy_shared;
}

/// Transposes as transpose_device does, with the same views, stream and errors. Variants that only copy write
/// shape.rows rows of shape.cols to `out`. Also throws InvalidArgument for other element sizes, for addresses
/// and strides that are not multiples of an element, and for more than kMaxVariantElements elements.
void transpose_by_variant(TransposeVariant variant, const TransposeShape& shape, ConstMatrices in,
                          Matrices out, DeviceStream stream);

/// Kernels that permute the axes of a tensor. All but the last two use blocks of 8 x 8 x 8 threads, one
/// thread per element.
enum class PermuteVariant : std::uint8_t {
  copy,         ///< no permutation
  copy_shared,  ///< no permutation, through a tile
  simple,       ///< every thread writes its element to its destination; the permutation is a kernel parameter
  simple_template,  ///< the same, compiled for every permutation
  shared,  ///< through a tile of 8 x 8 x 8, for coalesced writes; the permutation is a kernel parameter
  shared_template,  ///< the same, compiled for every permutation
  conflict_free,    ///< the same, in an array with padding against bank conflicts
  tile_2d_32,       ///< transposes every 2-D slice with TransposeVariant::coalesced_padded
  tile_2d_8,        ///< transposes every 2-D slice with TransposeVariant::tiled_8_padded
};
std::string_view name_of(PermuteVariant variant) noexcept;

constexpr bool only_copies(PermuteVariant variant) noexcept {
  return variant == PermuteVariant::copy || variant == PermuteVariant::copy_shared;
}
/// False if the variant does not support the permutation: 2-D tiles need one that moves the last axis.
constexpr bool can_permute(PermuteVariant variant, const Permutation& permutation) noexcept {
  return (variant != PermuteVariant::tile_2d_32 && variant != PermuteVariant::tile_2d_8) ||
         permutation.axes[2] != 2;
}

/// Extent of the shared memory array for a variant's 8 x 8 x 8 tile. For conflict_free it includes the
/// smallest padding without bank conflicts of reads and writes, or else of reads alone. The search takes
/// milliseconds.
TileExtent permute_tile(PermuteVariant variant, const Permutation& permutation, std::int64_t element_bytes);

/// Permutes as permute_device does, with the same memory, stream and errors; `tile` is the result of
/// permute_tile(). Variants that only copy keep the order. Also throws InvalidArgument if !can_permute(), for
/// a tile smaller than 8 x 8 x 8 or larger than 48 KiB and, as transpose_by_variant, for other element sizes and
/// for too many elements.
void permute_by_variant(PermuteVariant variant, const TileExtent& tile, const TensorExtent& extent,
                        const Permutation& permutation, std::int64_t element_bytes, const std::byte* in,
                        std::byte* out, DeviceStream stream);

/// Permutes as permute_host does, by plain loops over the input; the executor's threads divide the rows.
/// Elements are aligned and have 1, 2, 4 or 8 bytes; throws InvalidArgument for other sizes.
void permute_loop(const TensorExtent& extent, const Permutation& permutation, std::int64_t element_bytes,
                  const std::byte* in, std::byte* out, Executor& executor);

}  // namespace sepconv
