// One column strip of a convolution whose column pass comes first. Source rows are buffered in a ring; blocks
// of rows, halo included, are filtered down the columns and then along the rows. Included once per target.
#if defined(SEPCONV_CONV_COLUMNS_FIRST_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SEPCONV_CONV_COLUMNS_FIRST_INL_H
#undef SEPCONV_CONV_COLUMNS_FIRST_INL_H
#else
#define SEPCONV_CONV_COLUMNS_FIRST_INL_H
#endif

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "kernels/conv/row_sweep-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {

/// Scratch of such a strip in rows of ring.pitch elements. The ring and constant_row contain source rows,
/// `block` column-filtered rows with their halo, and `filtered` one row of the result.
template <class A>
struct ColumnsFirstScratch {
  Ring<A> ring;
  A* constant_row = nullptr;
  const A** window = nullptr;
  A* block = nullptr;
  A* filtered = nullptr;
};

template <class A>
class ColumnsFirstStrip {
 public:
  /// `out` covers the strip's columns and rows; in.rect contains them grown by the radii and clipped.
  ColumnsFirstStrip(Taps<A> row_taps, Taps<A> col_taps, const Border& border, const ConstRegion& in,
                    const Region& out, const ColumnsFirstScratch<A>& scratch)
      : row_taps_(row_taps),
        col_taps_(col_taps),
        border_(border),
        in_(in),
        out_(out),
        scratch_(scratch),
        channels_(in.pixels.channels),
        columns_(out.rect.col, out.rect.cols, row_taps.count / 2, in.image.cols) {}

  /// Throws Cancelled when `worker` is stopped.
  void run(const Worker& worker) {
    if (border_.mode == BorderMode::constant) {
      std::fill_n(scratch_.constant_row, inside_elements(), static_cast<A>(border_.value));
      constant_ = constant_column();
    }
    next_row_ = std::max<std::int64_t>(out_.rect.row - col_taps_.count / 2, 0);
    for (std::int64_t row = out_.rect.row; row < out_.rect.row_end(); row += ConvTuning::kRowsPerBlock) {
      worker.throw_if_stopped();
      const std::int64_t height = std::min(ConvTuning::kRowsPerBlock, out_.rect.row_end() - row);
      filter_columns(row, height);
      for (std::int64_t i = 0; i < height; ++i) filter_row(block_row(i), row + i);
    }
  }

 private:
  std::int64_t inside_elements() const { return columns_.inside() * channels_; }
  A* block_row(std::int64_t i) const { return scratch_.block + i * scratch_.ring.pitch; }

  /// The column pass's result in a column outside the image under the constant border.
  A constant_column() const {
    const A value = static_cast<A>(border_.value);
    if (col_taps_.count == 0) return value;
    A sum = 0;
    for (std::int64_t k = 0; k < col_taps_.count; ++k) sum = std::fma(col_taps_.data[k], value, sum);
    return sum;
  }

  void load(std::int64_t row, A* to) const {
    const std::byte* const from = in_.pixels.row_data(row - in_.rect.row) +
                                  (columns_.inside_begin - in_.rect.col) * in_.pixels.pixel_bytes();
    load_(from, inside_elements(), to);
  }

  /// Rows [row, row + height), the columns inside the image.
  void filter_columns(std::int64_t row, std::int64_t height) {
    A* const to = scratch_.block + columns_.before() * channels_;
    if (col_taps_.count == 0) {
      for (std::int64_t i = 0; i < height; ++i) load(row + i, to + i * scratch_.ring.pitch);
      return;
    }
    const std::int64_t radius = col_taps_.count / 2;
    const std::int64_t needed_end = std::min(row + height + radius, in_.image.rows);
    for (; next_row_ < needed_end; ++next_row_) load(next_row_, scratch_.ring.at(next_row_));
    for (std::int64_t j = 0; j < height + 2 * radius; ++j) {
      const std::int64_t image_row = border_index(row - radius + j, in_.image.rows, border_.mode);
      scratch_.window[j] = image_row < 0 ? scratch_.constant_row : scratch_.ring.at(image_row);
    }
    column_pass_(col_taps_, scratch_.window, height, inside_elements(), reinterpret_cast<std::byte*>(to),
                 scratch_.ring.pitch * static_cast<std::int64_t>(sizeof(A)));
  }

  /// Extends a column-filtered row beyond the image, filters it and stores it.
  void filter_row(A* padded, std::int64_t row) const {
    extend_row(padded, columns_, in_.image.cols, border_.mode, channels_, constant_);
    std::byte* const to = out_.pixels.row_data(row - out_.rect.row);
    if (row_taps_.count == 0) return store_(padded, out_.pixels.row_elements(), to);
    row_pass(row_taps_, channels_, padded, out_.pixels.row_elements(), scratch_.filtered);
    store_(scratch_.filtered, out_.pixels.row_elements(), to);
  }

  Taps<A> row_taps_, col_taps_;
  Border border_;
  ConstRegion in_;
  Region out_;
  ColumnsFirstScratch<A> scratch_;
  std::int64_t channels_;
  PaddedColumns columns_;
  std::int64_t next_row_ = 0;  ///< the first row that is not in the ring yet
  A constant_ = 0;
  LoadRow<A> load_ = load_row_for<A>(in_.pixels.type);
  StoreRow<A> store_ = store_row_for<A>(out_.pixels.type);
  ColumnPass<A> column_pass_ = column_pass_for<A>(pixel_type_of<A>());
};

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
