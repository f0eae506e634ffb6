#include "pipeline/run/wrap_reads.hpp"

#include "pipeline/chain/wrap.hpp"

namespace sepconv {
namespace {

/// Reads rows of the image. If `rect` contains whole rows, they are read once and copied to the left and
/// right; otherwise each piece is read separately.
void read_rows(Reader& source, const Rect& rect, const PixelView& out, Executor& executor) {
  const Extent image = source.spec().extent;
  const auto out_part = [&](const Rect& target) {
    return out.crop({target.row - rect.row, target.col - rect.col, target.rows, target.cols});
  };
  const std::optional<Rect> whole = find_repetition(rect, {rect.row, 0, rect.rows, image.cols}, image);
  if (whole) source.read({rect.row, 0, rect.rows, image.cols}, out_part(*whole), executor);
  for (const PeriodicPiece& piece : periodic_pieces(rect, image)) {
    if (!whole) {
      source.read(piece.inside, out_part(piece.at), executor);
    } else if (piece.at.col != whole->col) {
      copy_pixels(out_part(*whole).crop({0, piece.inside.col, rect.rows, piece.inside.cols}),
                  out_part(piece.at));
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
