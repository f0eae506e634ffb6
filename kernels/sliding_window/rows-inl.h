// Windows along the rows of an image. Included once per target.
#if defined(SEPCONV_WINDOW_ROWS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SEPCONV_WINDOW_ROWS_INL_H
#undef SEPCONV_WINDOW_ROWS_INL_H
#else
#define SEPCONV_WINDOW_ROWS_INL_H
#endif

#include <algorithm>
#include <cstdint>

#include "kernels/conv/padded_row.hpp"
#include "kernels/sliding_window/prefetch.hpp"
#include "kernels/sliding_window/van_herk_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {

template <class Elements>
class WindowRows {
 public:
  using E = typename Elements::Element;
  using Join = typename Elements::Join;

  /// `padded` has space for a piece of a row with its border, and for vector accesses beyond its end.
  WindowRows(const Window& window, const Border& border, const ConstRegion& in, std::int64_t image_cols,
             const Elements& elements, E* padded)
      : window_(window),
        border_(border),
        in_(in),
        image_cols_(image_cols),
        channels_(in.pixels.channels * Elements::kElementsPerSample),
        elements_(elements),
        padded_(padded) {}

  RowPrefetcher prefetcher;

  /// Loads the elements of columns [col, col + cols) of a row of the input.
  void load(std::int64_t row, std::int64_t col, std::int64_t cols, E* to) const {
    elements_.load(pixels_at(row, col), cols * in_.pixels.channels, to);
  }

  const std::byte* pixels_at(std::int64_t row, std::int64_t col) const {
    return in_.pixels.row_data(row - in_.rect.row) + (col - in_.rect.col) * in_.pixels.pixel_bytes();
  }

  /// Computes the windows along a row of the input for the columns of `piece`.
  void filter(std::int64_t row, const Rect& piece, E* to) {
    if constexpr (!Join::kSums && kMinInRegisters) {
      if (channels_ == 1) return filter_pixels(row, piece, to);
    }
    const E constant = border_.mode == BorderMode::constant ? elements_.constant(border_.value) : E();
    const PaddedColumns columns(piece.col, piece.cols, window_.radius_x, image_cols_);
    load(row, columns.inside_begin, columns.inside(), padded_ + columns.before() * channels_);
    prefetcher.schedule_after(in_, row, columns.inside_end, piece.cols);
    prefetcher.fetch();
    pass_row(columns, piece.cols, constant, to);
    prefetcher.fetch();
  }

  /// filter() from elements: `inside` are those of the image's columns that `piece` needs.
  void filter_elements(const E* inside, const Rect& piece, E constant, E* to) {
    const PaddedColumns columns(piece.col, piece.cols, window_.radius_x, image_cols_);
    std::copy_n(inside, columns.inside() * channels_, padded_ + columns.before() * channels_);
    pass_row(columns, piece.cols, constant, to);
  }

 private:
  /// Computes the windows along the row in padded_, whose border is not yet filled.
  void pass_row(const PaddedColumns& columns, std::int64_t cols, E constant, E* to) {
    extend_row(padded_, columns, image_cols_, border_.mode, channels_, constant);
    const WindowSteps steps(2 * window_.radius_x + 1);
    if constexpr (Join::kSums) window_row<Join>(steps, channels_, cols * channels_, padded_, to);
    if constexpr (!Join::kSums) min_row(steps, channels_, cols * channels_, padded_, to);
  }

  /// filter() for one channel, directly from the image if whole vectors are inside it.
  void filter_pixels(std::int64_t row, const Rect& piece, E* to) {
    const PaddedColumns columns(piece.col, piece.cols, window_.radius_x, image_cols_);
    const std::byte* const inside = pixels_at(row, columns.inside_begin);
    const E* pixels = reinterpret_cast<const E*>(inside);
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<E>()));
    prefetcher.schedule_after(in_, row, columns.inside_end, piece.cols);
    if (!elements_.reads_pixels() || columns.first < 0 ||
        columns.first + round_up(columns.end - columns.first, lanes) > in_.rect.col_end()) {
      elements_.fetch(inside, columns.inside(), padded_ + columns.before());
      const E constant = border_.mode == BorderMode::constant ? elements_.pixel(border_.value) : E();
      extend_row(padded_, columns, image_cols_, border_.mode, 1, constant);
      pixels = padded_;
    }
    const std::byte* const next = elements_.reads_pixels() ? prefetcher.release(inside) : inside;
    min_pixels(elements_, WindowSteps(2 * window_.radius_x + 1), piece.cols, pixels, next, padded_, to);
  }

  Window window_;
  Border border_;
  ConstRegion in_;
  std::int64_t image_cols_;
  std::int64_t channels_;  ///< elements of a pixel
  Elements elements_;
  E* padded_;
};

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
