// A rectangle of a flat file, cut into pieces: the unit in which threads share reading and
// writing.
#pragma once

#include <algorithm>
#include <functional>

#include "core/executor.hpp"
#include "core/geometry.hpp"

namespace sepconv {

/// Large enough that a system call's cost vanishes, small enough that a band of some MiB keeps 16 threads
/// busy to its end.
inline constexpr std::int64_t kPieceBytes = std::int64_t{512} << 10;

/// Rows that are shorter than this and lie apart in memory, but not in the file, are read many at once and
/// then spread, and gathered and then written.
inline constexpr std::int64_t kBounceBytes = std::int64_t{128} << 10;

/// Calls task(first_byte, byte_count) over [0, bytes) in pieces of kPieceBytes, which no element of a pixel
/// straddles.
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
