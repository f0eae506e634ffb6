// The blocks of a file as they are stored, for those who code them themselves: a GPU, to which they go over
// the bus as they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/executor.hpp"
#include "core/geometry.hpp"

namespace sepconv {

/// For a Reader whose layout is coded. Thread-safe, as that is.
class EncodedReader {
 public:
  virtual ~EncodedReader() = default;
  /// Encoded bytes of the block at this place of the grid; 0 for one that was never written. Throws IoError.
  virtual std::int64_t encoded_bytes(std::int64_t grid_row, std::int64_t grid_col) = 0;
  /// Reads this many. Throws IoError.
  virtual void read_encoded(std::int64_t grid_row, std::int64_t grid_col, std::span<std::byte> to) = 0;
};

/// For a Writer whose layout is coded.
class EncodedWriter {
 public:
  virtual ~EncodedWriter() = default;
  /// As Writer::write, with the blocks of `rect` encoded, row-major: the very bytes that the writer would
  /// have made of the pixels.
  virtual void write_encoded(const Rect& rect, std::span<const std::span<const std::byte>> blocks,
                             Executor& executor) = 0;
};

}  // namespace sepconv
