// Permutations of the three axes of a dense tensor, defined as in NumPy.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "kernels/transpose/transpose.hpp"

namespace sepconv {

/// Axis k of the result is axis axes[k] of the input, as in numpy.transpose(input, axes): {2, 0, 1} converts
/// interleaved pixels to channel planes, {1, 0, 2} transposes an image of interleaved pixels.
struct Permutation {
  std::array<int, 3> axes{0, 1, 2};

  /// The inverse permutation.
  Permutation inverse() const noexcept;
  friend bool operator==(const Permutation&, const Permutation&) = default;
};

/// Parses "2,0,1". Throws InvalidArgument unless each of 0, 1, 2 occurs once. "1,0" and "0,1" mean 1,0,2 and
/// 0,1,2.
Permutation parse_permutation(std::string_view text);
std::string to_string(const Permutation& permutation);

/// Throws InvalidArgument unless each of 0, 1 and 2 occurs once.
void check_permutation(const Permutation& permutation);

/// All six permutations, in lexicographic order.
const std::array<Permutation, 6>& all_permutations() noexcept;

/// Numbers of elements along the three axes; the last one is contiguous in memory.
using TensorExtent = std::array<std::int64_t, 3>;

/// Extent of the result: element k is extent[axes[k]].
TensorExtent permuted(const TensorExtent& extent, const Permutation& permutation) noexcept;

/// An equivalent permutation with axes of length 1 moved to the front of both orders, which does not change
/// the order of a dense tensor's elements. A tensor that is only a matrix or a row becomes one.
struct WithoutUnits {
  TensorExtent extent;
  Permutation permutation;
};
WithoutUnits without_unit_axes(const TensorExtent& extent, const Permutation& permutation);

/// A permutation of a dense tensor as a transposition. An element of `shape` may be several elements of the
/// tensor that stay together. Distances in bytes; the data pointers are those of the tensors.
struct PermutationAsTranspose {
  TransposeShape shape;
  std::int64_t in_pitch_bytes = 0, in_item_bytes = 0;
  std::int64_t out_pitch_bytes = 0, out_item_bytes = 0;
};

/// (0,1,2) is one row of bytes (rows 1, cols all). (1,0,2) has elements of extent[2] * element_bytes. (1,2,0)
/// and (2,0,1) are one matrix. (0,2,1) are extent[0] consecutive matrices. (2,1,0) are extent[1] matrices
/// with interleaved rows. Axes of length 1 are removed first, so a tensor that is only a matrix is treated as
/// one.
PermutationAsTranspose as_transpose(const TensorExtent& extent, const Permutation& permutation,
                                    std::int64_t element_bytes);

/// Result element [i_axes[0]][i_axes[1]][i_axes[2]] = input element [i_0][i_1][i_2]. Both tensors are dense,
/// have elements of `element_bytes` and do not overlap; `extent` is the input's. Throws InvalidArgument for a
/// negative extent. Simple reference implementation.
void permute_reference(const TensorExtent& extent, const Permutation& permutation, std::int64_t element_bytes,
                       const std::byte* in, std::byte* out);

/// The same, computed by transpose_host on the executor's threads.
void permute_host(const TensorExtent& extent, const Permutation& permutation, std::int64_t element_bytes,
                  const std::byte* in, std::byte* out, Executor& executor);

/// The same, computed by transpose_device; memory, stream and errors as there.
void permute_device(const TensorExtent& extent, const Permutation& permutation, std::int64_t element_bytes,
                    const std::byte* in, std::byte* out, DeviceStream stream);

}  // namespace sepconv
