// transpose: exchanges rows and columns. Moves pixels and computes nothing.
#include "pipeline/stages/transpose.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "pipeline/stages/keys.hpp"
#include "pipeline/stages/permutation_stage.hpp"
#include "pipeline/stages/stages.hpp"

namespace sepconv {
namespace {

/// The shape of one matrix: rows x cols pixels become cols x rows.
struct StackedMatrix {
  std::int64_t rows, cols;
};

class TransposeStage final : public PermutationStage {
 public:
  TransposeStage(std::int64_t items, Stacking stacking)
      : PermutationStage(text_of(items, stacking), items == 1 ? Movement::transpose : Movement::permutation),
        items_(items),
        stacking_(stacking) {}

  ImageSpec output_spec(const ImageSpec& input) const override {
    const StackedMatrix m = matrix(input.extent);
    ImageSpec output = input;
    output.extent =
        stacking_ == Stacking::rows ? Extent{items_ * m.cols, m.rows} : Extent{m.cols, items_ * m.rows};
    return output;
  }

  Rect input_for(const Rect& output, const ImageSpec& input) const override {
    const StackedMatrix m = matrix(input.extent);
    const std::int64_t length =
        stacking_ == Stacking::rows ? m.cols : m.rows;  // of a result item along the stack
    const std::int64_t begin = stacking_ == Stacking::rows ? output.row : output.col;
    const std::int64_t end = stacking_ == Stacking::rows ? output.row_end() : output.col_end();
    const std::int64_t first = begin / length;
    const std::int64_t last = (end - 1) / length;
    // For several items the whole other side of each is needed: the parts omitted from the first and the last
    // item lie inside the bounding rectangle.
    const bool is_single = first == last;
    if (stacking_ == Stacking::rows) {
      const std::int64_t row = first * m.rows + output.col;
      const std::int64_t row_end = last * m.rows + output.col_end();
      return {row, is_single ? begin - first * length : 0, row_end - row, is_single ? output.rows : m.cols};
    }
    const std::int64_t col = first * m.cols + output.row;
    const std::int64_t col_end = last * m.cols + output.row_end();
    return {is_single ? begin - first * length : 0, col, is_single ? output.cols : m.rows, col_end - col};
  }

  Extent transposed_item(const ImageSpec& input) const override {
    const StackedMatrix m = matrix(input.extent);
    return {m.cols, m.rows};
  }

 protected:
  /// Splits out.rect into a part of the first item, whole items, and a part of the last item.
  void move(const ConstRegion& in, const Region& out, const Transpose& transpose) const override {
    const StackedMatrix m = matrix(in.image);
    const bool in_rows = stacking_ == Stacking::rows;
    const std::int64_t length = in_rows ? m.cols : m.rows;
    const std::int64_t end = in_rows ? out.rect.row_end() : out.rect.col_end();
    for (std::int64_t at = in_rows ? out.rect.row : out.rect.col; at < end;) {
      const std::int64_t item_end = (at / length + 1) * length;
      const std::int64_t whole_end = at % length == 0 ? end / length * length : 0;
      const std::int64_t next = whole_end > at ? whole_end : std::min(item_end, end);
      Rect part = out.rect;
      (in_rows ? part.row : part.col) = at;
      (in_rows ? part.rows : part.cols) = next - at;
      move_part(in, out.crop(part), m, std::max<std::int64_t>(1, (next - at) / length), transpose);
      at = next;
    }
  }

 private:
  static std::string text_of(std::int64_t items, Stacking stacking) {
    if (items == 1) return "transpose";
    return fmt::format("transpose of {} matrices {}", items,
                       stacking == Stacking::rows ? "one below the other" : "side by side");
  }

  StackedMatrix matrix(Extent image) const {
    const std::int64_t stacked = stacking_ == Stacking::rows ? image.rows : image.cols;
    if (stacked % items_ != 0)
      throw InvalidArgument(fmt::format("{} {} are not {} matrices of one shape", stacked,
                                        stacking_ == Stacking::rows ? "rows" : "columns", items_));
    return stacking_ == Stacking::rows ? StackedMatrix{image.rows / items_, image.cols}
                                       : StackedMatrix{image.rows, image.cols / items_};
  }

  /// `out` is a part of one item, or `items` items that are whole along the stack.
  void move_part(const ConstRegion& in, const Region& out, const StackedMatrix& m, std::int64_t items,
                 const Transpose& transpose) const {
    const bool in_rows = stacking_ == Stacking::rows;
    const std::int64_t pixel_bytes = out.pixels.pixel_bytes();
    TransposeShape shape{items, out.rect.cols, out.rect.rows, pixel_bytes};
    (in_rows ? shape.cols : shape.rows) /= items;
    Rect first = out.rect;  // the part of the first item
    (in_rows ? first.rows : first.cols) /= items;
    const std::int64_t item = in_rows ? first.row / m.cols : first.col / m.rows;
    const Rect from =
        in_rows ? Rect{item * m.rows + first.col, first.row - item * m.cols, first.cols, first.rows}
                : Rect{first.col - item * m.rows, item * m.cols + first.row, first.cols, first.rows};
    const ConstPixelView pixels = in.crop(from).pixels;
    transpose(shape,
              {pixels.data, pixels.pitch_bytes, in_rows ? m.rows * pixels.pitch_bytes : m.cols * pixel_bytes},
              {out.pixels.data, out.pixels.pitch_bytes,
               in_rows ? m.cols * out.pixels.pitch_bytes : m.rows * pixel_bytes});
  }

  std::int64_t items_;
  Stacking stacking_;
};

constexpr StageKind<TransposeOptions> kTranspose{
    "transpose", "exchanges rows and columns; channels stay", "transpose",
    [](TransposeOptions&) { return Keys{}; },
    [](const TransposeOptions&, const StageArguments&) { return make_transpose(); }};

}  // namespace

StagePtr make_transpose(std::int64_t items, Stacking stacking) {
  if (items < 1)
    throw InvalidArgument(fmt::format("{} matrices cannot be transposed; give 1 or more", items));
  return std::make_shared<TransposeStage>(items, stacking);
}

StagePtr transpose(const TransposeOptions& options) { return kTranspose(options); }
StageEntry TransposeOptions::entry() { return kTranspose.entry(); }

}  // namespace sepconv
