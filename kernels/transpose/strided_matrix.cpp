#include "kernels/transpose/strided_matrix.hpp"

#include <limits>

namespace sepconv {

namespace {

using Tuning = HostTransposeTuning;

std::int64_t piece_count(std::int64_t count, std::int64_t per_piece) {
  return (count + per_piece - 1) / per_piece;
}

template <class Byte>
Lines<Byte> uniform_lines(const BasicMatrices<Byte>& matrices, std::int64_t count) {
  return {matrices.data, matrices.pitch_bytes, count, matrices.pitch_bytes * count, 0};
}

template <class Byte>
Lines<Byte> interleaved_lines(const BasicMatrices<Byte>& matrices, std::int64_t rows_of_matrix) {
  return {matrices.data, matrices.pitch_bytes, rows_of_matrix, matrices.item_bytes, 0};
}

}  // namespace

std::int64_t Panel::elements_past_line() const noexcept {
  if (out.row_bytes % Tuning::kLine != 0 || out.group_bytes % Tuning::kLine != 0) return 0;
  const auto misaligned = std::int64_t(reinterpret_cast<std::uintptr_t>(out.data) % Tuning::kLine);
  return misaligned % element_bytes == 0 ? misaligned / element_bytes : 0;
}

bool Panel::elements_align_with_lines() const noexcept {
  return Tuning::kLine % element_bytes == 0 && out.row_bytes % Tuning::kLine == 0 &&
         out.group_bytes % Tuning::kLine == 0 &&
         reinterpret_cast<std::uintptr_t>(out.data) % std::uintptr_t(element_bytes) == 0;
}

PanelPieces::PanelPieces(const TransposeShape& shape, ConstMatrices in, Matrices out, int threads) {
  if (shape.items == 0 || shape.rows == 0 || shape.cols == 0) return;
  fuse(shape, in, out);
  cut(threads);
}

void PanelPieces::fuse(const TransposeShape& shape, ConstMatrices in, Matrices out) {
  const std::int64_t bytes = shape.element_bytes;
  panel_ = {shape.rows, shape.cols, bytes, uniform_lines(in, shape.rows), uniform_lines(out, shape.cols)};
  items_ = shape.items;
  in_item_bytes_ = in.item_bytes;
  out_item_bytes_ = out.item_bytes;
  if (items_ == 1) return;

  const bool as_columns = in.item_bytes == shape.cols * bytes;  // matrices are side by side in the input
  const bool as_rows = out.item_bytes == shape.rows * bytes;    // matrices are side by side in the output
  if (as_columns && (shape.cols <= shape.rows || !as_rows)) {
    panel_.cols *= items_;
    panel_.in.group = panel_.rows;
    panel_.out = interleaved_lines(out, shape.cols);
  } else if (as_rows) {
    panel_.rows *= items_;
    panel_.in = interleaved_lines(in, shape.rows);
  } else {
    return;
  }
  items_ = 1;
}

void PanelPieces::cut(int threads) {
  const std::int64_t bytes = items_ * panel_.bytes();
  const std::int64_t target_bytes =
      std::clamp(bytes / (4 * std::max(1, threads)), Tuning::kSmallPiece, Tuning::kPiece);
  phase_ = panel_.elements_past_line();
  items_per_piece_ =
      std::clamp<std::int64_t>(target_bytes / std::max<std::int64_t>(1, panel_.bytes()), 1, items_);
  const std::int64_t elements =
      std::max<std::int64_t>(1, target_bytes / items_per_piece_ / panel_.element_bytes);
  // Enough rows for an output run, then columns; more rows if columns are few.
  const std::int64_t run = std::max<std::int64_t>(1, Tuning::kOutputRun / panel_.element_bytes);
  cols_per_piece_ = std::clamp<std::int64_t>(elements / run, 1, panel_.cols);
  rows_per_piece_ = std::clamp<std::int64_t>(elements / cols_per_piece_ / run * run, run, panel_.rows + run);
  if (rows_per_piece_ >= panel_.rows) {
    cols_per_piece_ =
        std::clamp<std::int64_t>(elements / panel_.rows, std::min(cols_per_piece_, panel_.cols), panel_.cols);
  }
  phase_ %= rows_per_piece_;

  item_pieces_ = piece_count(items_, items_per_piece_);
  row_pieces_ = piece_count(panel_.rows + phase_, rows_per_piece_);
  col_pieces_ = piece_count(panel_.cols, cols_per_piece_);
}

PanelPiece PanelPieces::piece(std::int64_t index) const noexcept {
  const std::int64_t col_piece = index % col_pieces_;
  const std::int64_t row_piece = index / col_pieces_ % row_pieces_;
  const std::int64_t item_piece = index / col_pieces_ / row_pieces_;
  PanelPiece piece;
  piece.first_item = item_piece * items_per_piece_;
  piece.items = std::min(items_per_piece_, items_ - piece.first_item);
  piece.first_row = std::max<std::int64_t>(0, row_piece * rows_per_piece_ - phase_);
  piece.rows = std::min((row_piece + 1) * rows_per_piece_ - phase_, panel_.rows) - piece.first_row;
  piece.first_col = col_piece * cols_per_piece_;
  piece.cols = std::min(cols_per_piece_, panel_.cols - piece.first_col);
  return piece;
}

Panel PanelPieces::panel(std::int64_t item) const noexcept {
  Panel panel = panel_;
  panel.in.data += item * in_item_bytes_;
  panel.out.data += item * out_item_bytes_;
  return panel;
}

Panel PanelPieces::panel(std::int64_t item, const PanelPiece& piece) const noexcept {
  Panel part = panel(item);
  part.rows = piece.rows;
  part.cols = piece.cols;
  part.rows_before += piece.first_row;
  part.rows_after += panel_.rows - piece.first_row - piece.rows;
  part.in.first += piece.first_row;
  part.in.data += piece.first_col * part.element_bytes;
  part.out.first += piece.first_col;
  part.out.data += piece.first_row * part.element_bytes;
  return part;
}

}  // namespace sepconv
