// Access to the encoded blocks of a file, for decoding and encoding on a GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/executor.hpp"
#include "core/geometry.hpp"

namespace sepconv {

/// Encoded blocks of a Reader whose layout has `coded`. Thread-safe.
class EncodedReader {
 public:
  virtual ~EncodedReader() = default;
  /// Encoded size of the block at this position of the grid; 0 if it was never written. Throws IoError.
  virtual std::int64_t encoded_bytes(std::int64_t grid_row, std::int64_t grid_col) = 0;
  /// Reads the encoded block. Throws IoError.
  virtual void read_encoded(std::int64_t grid_row, std::int64_t grid_col, std::span<std::byte> to) = 0;
};

/// Encoded blocks of a Writer whose layout has `coded`.
class EncodedWriter {
 public:
  virtual ~EncodedWriter() = default;
  /// As Writer::write(), with the encoded blocks of `rect` in row-major order. The bytes must equal those
  /// that the writer would encode.
  virtual void write_encoded(const Rect& rect, std::span<const std::span<const std::byte>> blocks,
                             Executor& executor) = 0;
};

}  // namespace sepconv
