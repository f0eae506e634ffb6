// A transposition as the host kernels process it: panels, which are matrices whose rows may have two levels
// of strides, cut into pieces.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/transpose/transpose.hpp"

namespace sepconv {

struct HostTransposeTuning {
  static constexpr std::int64_t kLine = 64;         ///< bytes of a cache line
  static constexpr std::int64_t kInputRun = 256;    ///< bytes of an input row that a tile reads
  static constexpr std::int64_t kOutputRun = 1024;  ///< bytes of an output row that a tile writes
  static constexpr std::int64_t kPlaneRun = 8192;   ///< the same if pixels become planes
  static constexpr std::int64_t kTileRows = 1024;   ///< maximum rows of a tile
  static constexpr std::int64_t kStaged =
      96 * 1024;  ///< bytes of a tile on the stack, smaller than the L2 cache
  static constexpr std::int64_t kPiece = 1 << 20;       ///< bytes that one task of an executor moves
  static constexpr std::int64_t kSmallPiece = 1 << 16;  ///< minimum bytes of a piece, to occupy all threads
  static constexpr std::int64_t kPastCaches = 4 << 20;  ///< result size from which stores bypass the caches
  static constexpr std::int64_t kLargeElement =
      512;  ///< element size in bytes from which elements are copied directly
  static constexpr std::int64_t kSmallMatrix =
      1 << 14;  ///< maximum matrix size in bytes for several matrices per stage
  static constexpr std::int64_t kTinyMatrix =
      64;  ///< maximum elements of a matrix that is copied element by element
};

/// Addresses of rows. Rows of a group are `row_bytes` apart; groups of `group` rows are `group_bytes` apart.
template <class Byte>
struct Lines {
  Byte* data = nullptr;
  std::int64_t row_bytes = 0;
  std::int64_t group = 1;
  std::int64_t group_bytes = 0;
  std::int64_t first = 0;  ///< index of row 0, counted from data

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

  /// Whether each row begins `bytes` after the previous one.
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
  std::int64_t rows_before = 0;  ///< rows of the enclosing matrix before this panel
  std::int64_t rows_after = 0;

  std::int64_t bytes() const noexcept { return rows * cols * element_bytes; }

  /// Number of elements from the last cache line boundary to the begin of an output row, if it is the same
  /// for all rows; otherwise 0.
  std::int64_t elements_past_line() const noexcept;

  /// Whether cache line boundaries coincide with element boundaries, at the same columns in all output rows.
  bool elements_align_with_lines() const noexcept;
};

/// The work of one task: a range of panels (items), and of each a range of rows and columns.
struct PanelPiece {
  std::int64_t first_item = 0, items = 0;
  std::int64_t first_row = 0, rows = 0;
  std::int64_t first_col = 0, cols = 0;
};

/// A transposition as a sequence of panels `in_item_bytes` and `out_item_bytes` apart; matrices with
/// interleaved rows form one panel. It is cut into count() pieces. A piece is empty only if the transposition
/// is.
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
  /// Whether the result is too large for the caches.
  bool stores_past_caches() const noexcept {
    return items_ * panel_.bytes() >= HostTransposeTuning::kPastCaches;
  }

 private:
  void fuse(const TransposeShape& shape, ConstMatrices in, Matrices out);
  void cut(int threads);

  Panel panel_;
  std::int64_t items_ = 0, in_item_bytes_ = 0, out_item_bytes_ = 0;
  std::int64_t phase_ = 0;  ///< rows by which pieces end early, so that the next ones begin at a cache line
  std::int64_t items_per_piece_ = 1, rows_per_piece_ = 1, cols_per_piece_ = 1;
  std::int64_t item_pieces_ = 0, row_pieces_ = 0, col_pieces_ = 0;
};

}  // namespace sepconv
