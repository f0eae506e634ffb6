// How the host kernels see a transposition: panels, matrices whose rows may lie at two levels of distances,
// cut into pieces.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/transpose/transpose.hpp"

namespace sepconv {

struct HostTransposeTuning {
  static constexpr std::int64_t kLine = 64;           ///< bytes of a cache line
  static constexpr std::int64_t kInputRun = 256;      ///< bytes of an input row that a tile reads
  static constexpr std::int64_t kOutputRun = 1024;    ///< bytes of an output row that a tile writes
  static constexpr std::int64_t kPlaneRun = 8192;     ///< the same where pixels become planes
  static constexpr std::int64_t kTileRows = 1024;     ///< at most
  static constexpr std::int64_t kStaged = 96 * 1024;  ///< bytes of a tile on the stack, below the L2 cache's
  static constexpr std::int64_t kPiece = 1 << 20;     ///< bytes that one task of an executor moves
  static constexpr std::int64_t kSmallPiece = 1 << 16;  ///< as few as this, so that all threads have some
  static constexpr std::int64_t kPastCaches = 4 << 20;  ///< from this result on, stores go around the caches
  static constexpr std::int64_t kLargeElement =
      512;  ///< bytes of an element from which on it is copied directly
  static constexpr std::int64_t kSmallMatrix = 1 << 14;  ///< bytes up to which matrices share a stage
  static constexpr std::int64_t kTinyMatrix =
      64;  ///< elements up to which a matrix is copied element by element
};

/// Addresses of rows. Those of a group are `row_bytes` apart, groups of `group` rows are `group_bytes` apart.
template <class Byte>
struct Lines {
  Byte* data = nullptr;
  std::int64_t row_bytes = 0;
  std::int64_t group = 1;
  std::int64_t group_bytes = 0;
  std::int64_t first = 0;  ///< row 0 is this one of those that begin at data

  /// Writes the addresses of rows [row, row + count).
  void fill(std::int64_t row, std::int64_t count, Byte** addresses) const noexcept {
    std::int64_t in_group = (first + row) % group;
    Byte* group_data = data + (first + row) / group * group_bytes;
    for (std::int64_t i = 0; i < count; ++i) {
      addresses[i] = group_data + in_group * row_bytes;
      if (++in_group == group) {
        in_group = 0;
        group_data += group_bytes;
      }
    }
  }

  Byte* at(std::int64_t row) const noexcept {
    Byte* address = nullptr;
    fill(row, 1, &address);
    return address;
  }

  /// Each row begins `bytes` after the one before.
  bool evenly_spaced(std::int64_t bytes) const noexcept {
    return row_bytes == bytes && group_bytes == bytes * group;
  }
};

/// One matrix to transpose. Row k of the input begins at in.at(k) and becomes column k; column j becomes the
/// row that begins at out.at(j).
struct Panel {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t element_bytes = 1;
  Lines<const std::byte> in;
  Lines<std::byte> out;
  std::int64_t rows_before = 0;  ///< of the matrix that this is a part of
  std::int64_t rows_after = 0;

  std::int64_t bytes() const noexcept { return rows * cols * element_bytes; }

  /// Elements by which the output rows begin after a multiple of a cache line, if it is the same number for
  /// all of them; otherwise 0.
  std::int64_t elements_past_line() const noexcept;

  /// Elements and cache lines begin together, at the same columns of all output rows.
  bool elements_align_with_lines() const noexcept;
};

/// What one task does: panels `first_item` on, of each the rows and columns that are named.
struct PanelPiece {
  std::int64_t first_item = 0, items = 0;
  std::int64_t first_row = 0, rows = 0;
  std::int64_t first_col = 0, cols = 0;
};

/// A transposition as panels `in_item_bytes` and `out_item_bytes` apart; matrices whose rows take turns are
/// one panel. Cut into count() pieces, none of them empty unless the whole is.
class PanelPieces {
 public:
  PanelPieces(const TransposeShape& shape, ConstMatrices in, Matrices out, int threads);

  std::int64_t count() const noexcept { return item_pieces_ * row_pieces_ * col_pieces_; }
  PanelPiece piece(std::int64_t index) const noexcept;
  /// Panel `item`, or a part of it.
  Panel panel(std::int64_t item) const noexcept;
  Panel panel(std::int64_t item, const PanelPiece& piece) const noexcept;
  std::int64_t in_item_bytes() const noexcept { return in_item_bytes_; }
  std::int64_t out_item_bytes() const noexcept { return out_item_bytes_; }
  /// The result is too large for caches to keep.
  bool stores_past_caches() const noexcept {
    return items_ * panel_.bytes() >= HostTransposeTuning::kPastCaches;
  }

 private:
  void fuse(const TransposeShape& shape, ConstMatrices in, Matrices out);
  void cut(int threads);

  Panel panel_;
  std::int64_t items_ = 0, in_item_bytes_ = 0, out_item_bytes_ = 0;
  std::int64_t phase_ = 0;  ///< rows by which pieces end early, so that the next begin with a cache line
  std::int64_t items_per_piece_ = 1, rows_per_piece_ = 1, cols_per_piece_ = 1;
  std::int64_t item_pieces_ = 0, row_pieces_ = 0, col_pieces_ = 0;
};

}  // namespace sepconv
