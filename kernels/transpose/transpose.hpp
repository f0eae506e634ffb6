// Transposition of matrices of opaque elements, and the permutations of three axes, which are all
// transpositions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/executor.hpp"
#include "kernels/device/runtime.hpp"

namespace sepconv {

/// `items` matrices of rows x cols elements, transposed in one call. An element is `element_bytes` bytes (1
/// or more) that stay together: a value, or a pixel of interleaved channels. There are specialized kernels
/// for 1, 2, 3, 4, 6, 8, 12 and 16 bytes.
struct TransposeShape {
  std::int64_t items = 1;
  std::int64_t rows = 0;  ///< of each input matrix; columns of the output
  std::int64_t cols = 0;  ///< of each input matrix; rows of the output
  std::int64_t element_bytes = 1;

  std::int64_t bytes() const noexcept { return items * rows * cols * element_bytes; }
  friend bool operator==(const TransposeShape&, const TransposeShape&) = default;
};

/// Non-owning view of row-major matrices; the elements of a row are contiguous. `pitch_bytes` (row to row)
/// and `item_bytes` (matrix to matrix) may be any distances for which no two elements overlap: matrices may
/// be consecutive or interleaved row by row (item_bytes below pitch_bytes). Addresses and distances need no
/// alignment; multiples of element_bytes (and of 16 on a device) are faster. `Byte` is std::byte or const
/// std::byte.
template <class Byte>
struct BasicMatrices {
  Byte* data = nullptr;
  std::int64_t pitch_bytes = 0;
  std::int64_t item_bytes = 0;

  operator BasicMatrices<const std::byte>() const noexcept { return {data, pitch_bytes, item_bytes}; }
};
using Matrices = BasicMatrices<std::byte>;
using ConstMatrices = BasicMatrices<const std::byte>;

/// Element (c, r) of matrix i of `out`, which has shape.cols rows and shape.rows columns, is set to element
/// (r, c) of matrix i of `in`. The two must not overlap. Does nothing for an empty shape. Throws
/// InvalidArgument for a negative size or element_bytes below 1. Simple reference implementation.
void transpose_reference(const TransposeShape& shape, ConstMatrices in, Matrices out);

/// The same on the calling thread: blocked for the caches and transposed in vector registers. Allocates
/// nothing.
void transpose_host(const TransposeShape& shape, ConstMatrices in, Matrices out);

/// The same, in pieces that run on the executor's threads.
void transpose_host(const TransposeShape& shape, ConstMatrices in, Matrices out, Executor& executor);

/// The same on the current device: enqueued on `stream`, returns immediately. `in` and `out` are device
/// memory or page-locked host memory and must stay valid until the stream has executed the work. Throws
/// InvalidArgument and DeviceError.
void transpose_device(const TransposeShape& shape, ConstMatrices in, Matrices out, DeviceStream stream);

}  // namespace sepconv
