// Permutations of the three axes of a dense tensor, with NumPy's meaning.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "kernels/transpose/transpose.hpp"

namespace sepconv {

/// Axis k of the result is axis axes[k] of the input, as in numpy.transpose(input, axes): {2, 0, 1} makes
/// channel planes out of interleaved pixels, {1, 0, 2} transposes an image of interleaved pixels.
struct Permutation {
  std::array<int, 3> axes{0, 1, 2};

  /// The permutation that undoes this one.
  Permutation inverse() const noexcept;
  friend bool operator==(const Permutation&, const Permutation&) = default;
};

/// "2,0,1". Throws InvalidArgument unless each of 0, 1, 2 is there once. "1,0" and "0,1" mean 1,0,2 and
/// 0,1,2.
Permutation parse_permutation(std::string_view text);
std::string to_string(const Permutation& permutation);

/// Throws InvalidArgument unless each of 0, 1 and 2 is there once.
void check_permutation(const Permutation& permutation);

/// All six, in lexicographic order.
const std::array<Permutation, 6>& all_permutations() noexcept;

/// Numbers of elements along the three axes; the last one is contiguous in memory.
using TensorExtent = std::array<std::int64_t, 3>;

/// Extent of the result: element k is extent[axes[k]].
TensorExtent permuted(const TensorExtent& extent, const Permutation& permutation) noexcept;

/// A permutation without the axes of length 1, which no order of a dense tensor's elements depends on: those
/// are moved to the front of both orders, so that a tensor that is no more than a matrix, or a row, is one of
/// that permutation.
struct WithoutUnits {
  TensorExtent extent;
  Permutation permutation;
};
WithoutUnits without_unit_axes(const TensorExtent& extent, const Permutation& permutation);

/// What a permutation of a dense tensor is in terms of transposition. `shape` with element_bytes of several
/// elements where they stay together. Distances in bytes; the data pointers are those of the tensors.
struct PermutationAsTranspose {
  TransposeShape shape;
  std::int64_t in_pitch_bytes = 0, in_item_bytes = 0;
  std::int64_t out_pitch_bytes = 0, out_item_bytes = 0;
};

/// (0,1,2) is one row of bytes (rows 1, cols all); (1,0,2) has elements of extent[2] * element_bytes; (1,2,0)
/// and (2,0,1) are one matrix; (0,2,1) are extent[0] matrices one after another; (2,1,0) are extent[1]
/// matrices whose rows take turns. Axes of length 1 are dropped first, so that a tensor which is no more than
/// a matrix is treated as one.
PermutationAsTranspose as_transpose(const TensorExtent& extent, const Permutation& permutation,
                                    std::int64_t element_bytes);

/// Result element [i_axes[0]][i_axes[1]][i_axes[2]] = input element [i_0][i_1][i_2]. Dense tensors of
/// elements of `element_bytes`, which do not overlap, extent of the input. Throws InvalidArgument for a
/// negative extent. Written to be obviously right.
void permute_reference(const TensorExtent& extent, const Permutation& permutation, std::int64_t element_bytes,
                       const std::byte* in, std::byte* out);

/// The same by transpose_host on the executor's threads.
void permute_host(const TensorExtent& extent, const Permutation& permutation, std::int64_t element_bytes,
                  const std::byte* in, std::byte* out, Executor& executor);

/// The same by transpose_cuda; memory, stream and errors as there.
void permute_cuda(const TensorExtent& extent, const Permutation& permutation, std::int64_t element_bytes,
                  const std::byte* in, std::byte* out, DeviceStream stream);

}  // namespace sepconv
