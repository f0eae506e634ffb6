// Splits rectangles of flat files into pieces, which threads read and write in parallel.
#pragma once

#include <algorithm>
#include <functional>

#include "core/executor.hpp"
#include "core/geometry.hpp"

namespace sepconv {

/// Large enough to make the cost of a system call negligible, small enough that a band of some MiB keeps 16
/// threads busy to its end.
inline constexpr std::int64_t kPieceBytes = std::int64_t{512} << 10;

/// Buffer size for short rows that are contiguous in the file but not in memory: many rows are transferred by
/// one system call and copied.
inline constexpr std::int64_t kBounceBytes = std::int64_t{128} << 10;

/// Calls task(first_byte, byte_count) over [0, bytes) in pieces of kPieceBytes. No element straddles two
/// pieces.
inline void for_each_byte_piece(
    std::int64_t bytes, Executor& executor,
    const std::function<void(std::int64_t first_byte, std::int64_t byte_count)>& task) {
  executor.for_each(ceil_div(bytes, kPieceBytes), [&](std::int64_t piece, int) {
    const std::int64_t first = piece * kPieceBytes;
    task(first, std::min(kPieceBytes, bytes - first));
  });
}

/// Calls task(first_row, row_count) over [0, rows) in groups of rows of about kPieceBytes.
inline void for_each_row_piece(
    std::int64_t rows, std::int64_t row_bytes, Executor& executor,
    const std::function<void(std::int64_t first_row, std::int64_t row_count)>& task) {
  const std::int64_t group = std::max<std::int64_t>(1, kPieceBytes / row_bytes);
  executor.for_each(ceil_div(rows, group), [&](std::int64_t piece, int) {
    const std::int64_t first = piece * group;
    task(first, std::min(group, rows - first));
  });
}

}  // namespace sepconv
