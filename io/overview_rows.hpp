// Rows of pyramid levels that belong to a part of an image. Parts begin at rows that map to whole rows of all
// levels.
#pragma once

#include <cstdint>

namespace sepconv {

/// Rows [begin, end) of a level in one part. The part writes [written_begin, written_end), which are whole blocks or
/// shards; the other rows are saved and written at the end.
struct PartRows {
  std::int64_t begin = 0, end = 0;
  std::int64_t written_begin = 0, written_end = 0;  ///< equal if empty
  std::int64_t kept() const noexcept { return end - begin - (written_end - written_begin); }
};

/// A level whose sides are those of the image divided by 2^index, rounded up at each halving.
struct OverviewRows {
  int index = 1;
  std::int64_t rows = 0, row_bytes = 0;
  std::int64_t unit = 0;  ///< rows of a block or shard, an even number; 0: parts write no blocks

  /// Rows of the part of the image from `first_row` to `end_row`.
  PartRows of_part(std::int64_t first_row, std::int64_t end_row, std::int64_t image_rows) const noexcept {
    PartRows part{.begin = first_row >> index, .end = end_row < image_rows ? end_row >> index : rows};
    if (unit == 0) return part;
    const std::int64_t written_begin = (part.begin + unit - 1) / unit * unit;
    const std::int64_t written_end = part.end == rows ? rows : part.end / unit * unit;
    if (written_begin < written_end) part.written_begin = written_begin, part.written_end = written_end;
    return part;
  }
};

}  // namespace sepconv
