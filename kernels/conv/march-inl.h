// One column strip of a convolution: source rows are row-filtered into a ring, once each, while blocks of
// output rows march down. Included once per target.
#if defined(SEPCONV_CONV_MARCH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SEPCONV_CONV_MARCH_INL_H
#undef SEPCONV_CONV_MARCH_INL_H
#else
#define SEPCONV_CONV_MARCH_INL_H
#endif

#include <hwy/cache_control.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "sepconv/core/image.hpp"
#include "sepconv/kernels/conv/border.hpp"
#include "sepconv/kernels/conv/comb-inl.h"
#include "sepconv/kernels/conv/passes-inl.h"
#include "sepconv/kernels/conv/strips.hpp"
#include "sepconv/kernels/simd/rows.hpp"

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {

inline void prefetch_bytes(const std::byte* from, std::int64_t bytes) {
  for (std::int64_t i = 0; i < bytes; i += kAlignment) hwy::Prefetch(from + i);
}

/// Row-filtered rows of a strip of columns [col, col + cols) of the input's image.
template <class A>
class RowFilter {
 public:
  /// `padded` has room for StripLayout's padded_elements.
  RowFilter(Taps<A> taps, const Border& border, const ConstRegion& in, std::int64_t col, std::int64_t cols,
            A* padded, Arena& arena)
      : taps_(taps),
        border_(border),
        in_(in),
        channels_(in.pixels.channels),
        col_(col),
        cols_(cols),
        padded_(padded),
        load_(load_row_for<A>(in.pixels.type)) {
    const std::int64_t radius = taps.count / 2;
    first_ = col - radius;
    inside_begin_ = std::max<std::int64_t>(first_, 0);
    inside_end_ = std::min(col + cols + radius, in.image.cols);
    const bool inside = inside_begin_ == first_ && inside_end_ == col + cols + radius;
    // A row pass reads whole vectors: straight from the image only where it has them.
    const hn::ScalableTag<A> d;
    in_place_ = inside && in.pixels.type == pixel_type_of<A>() &&
                elements() >= static_cast<std::int64_t>(hn::Lanes(d));
    if (!Comb<A>::pays(taps, channels_, elements())) return;
    comb_.emplace(taps, elements(), arena);
    in_place_ = in_place_ && comb_->read() <= (in.rect.col_end() - first_) * channels_;
    const std::int64_t held = (cols + taps.count - 1) * channels_;
    std::fill_n(padded_ + held, std::max<std::int64_t>(0, comb_->read() - held), A{0});
  }

  std::int64_t elements() const { return cols_ * channels_; }

  /// Row `row` of the image, which in.rect holds, filtered into `to`.
  void filter(std::int64_t row, A* to) const {
    if (taps_.count == 0) return load_(inside_pixels(row), elements(), to);
    if (comb_) return filter_two(row, to, row, to);
    row_pass(taps_, channels_, padded_row(row), elements(), to);
  }

  /// The same of rows [row, row + count), into at(row), ...
  template <class At>
  void filter_rows(std::int64_t row, std::int64_t count, const At& at) const {
    const std::int64_t end = row + count;
    if (comb_) {
      for (; row + 1 < end; row += 2) filter_two(row, at(row), row + 1, at(row + 1));
    }
    for (; row < end; ++row) filter(row, at(row));
  }

  /// Asks for row `row` ahead of its turn, if in.rect has it: a strip leaves each row after a few cache
  /// lines, which is too soon for the processor to see where it goes.
  void prefetch(std::int64_t row) const {
    if (row < in_.rect.row_end()) {
      prefetch_bytes(inside_pixels(row), (inside_end_ - inside_begin_) * in_.pixels.pixel_bytes());
    }
  }

  /// A row outside the image under the constant border, filtered into `to`.
  void filter_constant(A* to) const {
    const A value = static_cast<A>(border_.value);
    if (taps_.count == 0) return void(std::fill_n(to, elements(), value));
    std::fill_n(padded_, (cols_ + taps_.count - 1) * channels_, value);
    row_pass(taps_, channels_, padded_, elements(), to);
  }

 private:
  void filter_two(std::int64_t row, A* to, std::int64_t other, A* to_other) const {
    comb_->spread(0, padded_row(row));
    comb_->spread(1, padded_row(other));
    comb_->pass();
    comb_->gather(0, to);
    comb_->gather(1, to_other);
  }

  /// Where the elements under the row's taps are, or are brought.
  const A* padded_row(std::int64_t row) const {
    const std::byte* const from = inside_pixels(row);
    if (in_place_) return reinterpret_cast<const A*>(from);
    load_(from, (inside_end_ - inside_begin_) * channels_, padded_ + (inside_begin_ - first_) * channels_);
    extend();
    return padded_;
  }

  const std::byte* inside_pixels(std::int64_t row) const {
    return in_.pixels.row_data(row - in_.rect.row) +
           (inside_begin_ - in_.rect.col) * in_.pixels.pixel_bytes();
  }

  /// Fills the padded row left and right of the image's columns.
  void extend() const {
    for (std::int64_t col = first_; col < inside_begin_; ++col) extend_at(col);
    for (std::int64_t col = inside_end_; col < col_ + cols_ + taps_.count / 2; ++col) extend_at(col);
  }

  void extend_at(std::int64_t col) const {
    A* const to = padded_ + (col - first_) * channels_;
    const std::int64_t from = border_index(col, in_.image.cols, border_.mode);
    if (from < 0) {
      std::fill_n(to, channels_, static_cast<A>(border_.value));
    } else {
      std::copy_n(padded_ + (from - first_) * channels_, channels_, to);
    }
  }

  Taps<A> taps_;
  Border border_;
  ConstRegion in_;
  std::int64_t channels_, col_, cols_;
  std::int64_t first_, inside_begin_,
      inside_end_;  ///< columns under the taps; those of them inside the image
  bool in_place_;
  A* padded_;
  LoadRow<A> load_;
  std::optional<Comb<A>> comb_;  ///< of row passes by a comb
};

/// Where row-filtered rows are kept until the last output row that needs them.
template <class A>
struct Ring {
  A* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t pitch = 0;

  /// 32-bit, because a 64-bit division would show for small radii; rows are below kMaxSide.
  A* at(std::int64_t row) const {
    return data + static_cast<std::uint32_t>(row) % static_cast<std::uint32_t>(rows) * pitch;
  }
};

/// Scratch of a strip; see StripLayout for the sizes.
template <class A>
struct StripScratch {
  Ring<A> ring;
  A* constant_row = nullptr;
  const A** window = nullptr;
};

/// Filters one strip: `out` covers the strip's columns and all its rows.
///
/// The rows under a block of output rows, mapped by the border, span no more image rows than the ring has: a
/// border only folds the window back onto itself. Ends with Cancelled when the owner of `arena` is to stop.
template <class A>
void march_strip(const RowFilter<A>& rows, Taps<A> taps, BorderMode border, const StripScratch<A>& scratch,
                 const Region& out, std::int64_t block_rows, const Arena& arena) {
  const ColumnPass<A> column_pass_to = column_pass_for<A>(out.pixels.type);
  const std::int64_t radius = taps.count / 2;
  if (border == BorderMode::constant) rows.filter_constant(scratch.constant_row);
  std::int64_t next_row = std::max<std::int64_t>(out.rect.row - radius, 0);
  for (std::int64_t row = out.rect.row; row < out.rect.row_end(); row += block_rows) {
    const std::int64_t height = std::min(block_rows, out.rect.row_end() - row);
    const std::int64_t needed_end = std::min(row + height + radius, out.image.rows);
    for (std::int64_t i = row; i < row + height; ++i) {  // written only after the rows are filtered
      prefetch_bytes(out.pixels.row_data(i - out.rect.row), out.pixels.row_bytes());
    }
    while (next_row < needed_end) {
      arena.throw_if_stopped();
      const std::int64_t count = std::min<std::int64_t>(2, needed_end - next_row);
      for (std::int64_t i = 0; i < count; ++i) rows.prefetch(next_row + i + ConvTuning::kPrefetchRows);
      rows.filter_rows(next_row, count, [&](std::int64_t i) { return scratch.ring.at(i); });
      next_row += count;
    }
    for (std::int64_t j = 0; j < height + 2 * radius; ++j) {
      const std::int64_t image_row = border_index(row - radius + j, out.image.rows, border);
      scratch.window[j] = image_row < 0 ? scratch.constant_row : scratch.ring.at(image_row);
    }
    arena.throw_if_stopped();
    column_pass_to(taps, scratch.window, height, rows.elements(), out.pixels.row_data(row - out.rect.row),
                   out.pixels.pitch_bytes);
  }
}

/// A strip without a column pass: filter and store a few rows at a time, as many as the ring has.
template <class A>
void filter_strip_rows(const RowFilter<A>& rows, const Region& out, const Ring<A>& ring, const Arena& arena) {
  const StoreRow<A> store = store_row_for<A>(out.pixels.type);
  for (std::int64_t first = out.rect.row; first < out.rect.row_end(); first += ring.rows) {
    arena.throw_if_stopped();
    const std::int64_t end = std::min(first + ring.rows, out.rect.row_end());
    rows.filter_rows(first, end - first, [&](std::int64_t row) { return ring.at(row); });
    for (std::int64_t row = first; row < end; ++row) store(ring.at(row), rows.elements(), out.pixels.row_data(row - out.rect.row));
  }
}

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
