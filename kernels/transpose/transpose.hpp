// Transposition of matrices of opaque elements, and the permutations of three axes, which all reduce to it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/executor.hpp"
#include "kernels/cuda/runtime.hpp"

namespace sepconv {

/// `items` matrices of rows x cols elements, all in one go. An element is `element_bytes` bytes (any number
/// from 1 on) that stay together: a value, or a pixel of interleaved channels. 1, 2, 4, 8 and 16 have fast
/// kernels of their own, as have 3, 6 and 12.
struct TransposeShape {
  std::int64_t items = 1;
  std::int64_t rows = 0;  ///< of each matrix before, columns after
  std::int64_t cols = 0;  ///< of each matrix before, rows after
  std::int64_t element_bytes = 1;

  std::int64_t bytes() const noexcept { return items * rows * cols * element_bytes; }
  friend bool operator==(const TransposeShape&, const TransposeShape&) = default;
};

/// Non-owning view of matrices, row-major, the elements of a row side by side. `pitch_bytes` from row to row
/// and `item_bytes` from matrix to matrix are any distances for which no two elements overlap: matrices may
/// lie one after another, or row by row in turns (item_bytes below pitch_bytes). Addresses and distances need
/// no alignment; those that are multiples of element_bytes (and of 16 on a device) are faster. `Byte` is
/// std::byte or const std::byte.
template <class Byte>
struct BasicMatrices {
  Byte* data = nullptr;
  std::int64_t pitch_bytes = 0;
  std::int64_t item_bytes = 0;

  operator BasicMatrices<const std::byte>() const noexcept { return {data, pitch_bytes, item_bytes}; }
};
using Matrices = BasicMatrices<std::byte>;
using ConstMatrices = BasicMatrices<const std::byte>;

/// Element (c, r) of matrix i of `out`, which has shape.cols rows and shape.rows columns, becomes element (r,
/// c) of matrix i of `in`. The two do not overlap. Nothing happens for an empty shape. Throws InvalidArgument
/// for a negative size or element_bytes below 1. Written to be obviously right.
void transpose_reference(const TransposeShape& shape, ConstMatrices in, Matrices out);

/// The same on the caller's thread: blocked for caches and transposed in vector registers. Allocates nothing.
void transpose_host(const TransposeShape& shape, ConstMatrices in, Matrices out);

/// The same, cut into pieces that the executor's threads share.
void transpose_host(const TransposeShape& shape, ConstMatrices in, Matrices out, Executor& executor);

/// The same on the device that is current: enqueued on `stream`, returns at once. `in` and `out` are device
/// memory, or page-locked host memory, that stays valid until the stream has passed. Throws InvalidArgument
/// and CudaError.
void transpose_cuda(const TransposeShape& shape, ConstMatrices in, Matrices out, DeviceStream stream);

}  // namespace sepconv
