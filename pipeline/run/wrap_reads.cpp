#include "pipeline/run/wrap_reads.hpp"

#include "pipeline/chain/wrap.hpp"

namespace sepconv {
namespace {

/// Rows of the image: whole ones are read once and copied left and right; else each piece is read for itself.
void read_rows(Reader& source, const Rect& rect, const PixelView& out, Executor& executor) {
  const Extent image = source.spec().extent;
  const auto in_out = [&](const Rect& at) {
    return out.crop({at.row - rect.row, at.col - rect.col, at.rows, at.cols});
  };
  const std::optional<Rect> whole = repeated_in(rect, {rect.row, 0, rect.rows, image.cols}, image);
  if (whole) source.read({rect.row, 0, rect.rows, image.cols}, in_out(*whole), executor);
  for (const PeriodicPiece& piece : periodic_pieces(rect, image)) {
    if (!whole) {
      source.read(piece.inside, in_out(piece.at), executor);
    } else if (piece.at.col != whole->col) {
      copy_pixels(in_out(*whole).crop({0, piece.inside.col, rect.rows, piece.inside.cols}), in_out(piece.at));
    }
  }
}

}  // namespace

void read_periodic(Reader& source, const Rect& rect, const PixelView& out, Executor& executor) {
  const Extent image = source.spec().extent;
  if (Rect::whole(image).contains(rect)) return source.read(rect, out, executor);
  for (const PeriodicPiece& piece : periodic_pieces({rect.row, 0, rect.rows, 1}, image)) {
    const PixelView part = out.crop({piece.at.row - rect.row, 0, piece.at.rows, rect.cols});
    read_rows(source, {piece.inside.row, rect.col, piece.inside.rows, rect.cols}, part, executor);
  }
}

}  // namespace sepconv
