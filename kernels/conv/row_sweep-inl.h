// One column strip of a convolution: each source row is row-filtered once into a ring, from which the column
// pass computes blocks of output rows from top to bottom. Included once per target.
#if defined(SEPCONV_CONV_MARCH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SEPCONV_CONV_MARCH_INL_H
#undef SEPCONV_CONV_MARCH_INL_H
#else
#define SEPCONV_CONV_MARCH_INL_H
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/image.hpp"
#include "kernels/conv/border.hpp"
#include "kernels/conv/padded_row.hpp"
#include "kernels/conv/passes-inl.h"
#include "kernels/conv/short_row_pass-inl.h"
#include "kernels/conv/strips.hpp"
#include "kernels/simd/rows.hpp"

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {

/// Filters rows of a strip of columns [col, col + cols) of the input's image.
template <class A>
class RowFilter {
 public:
  /// `padded` has StripLayout::padded_elements elements.
  RowFilter(Taps<A> taps, const Border& border, const ConstRegion& in, std::int64_t col, std::int64_t cols,
            A* padded)
      : taps_(taps),
        border_(border),
        in_(in),
        channels_(in.pixels.channels),
        cols_(cols),
        columns_(col, cols, taps.count / 2, in.image.cols),
        padded_(padded),
        load_(load_row_for<A>(in.pixels.type)) {
    // A row pass reads whole vectors, so rows shorter than a vector are copied first.
    const hn::ScalableTag<A> d;
    in_place_ = columns_.all_inside() && in.pixels.type == pixel_type_of<A>() &&
                elements() >= static_cast<std::int64_t>(hn::Lanes(d));
    // A constant border may not be representable as a pixel.
    if (channels_ == 1 && (columns_.all_inside() || border.mode != BorderMode::constant)) {
      short_row_ = visit_pixel_type(in.pixels.type, [&]<class T>(std::type_identity<T>) {
        return short_row_pass_for<A, T>(taps.count);
      });
    }
  }

  std::int64_t elements() const { return cols_ * channels_; }

  /// Filters image row `row`, which is in in.rect, into `to`.
  void filter(std::int64_t row, A* to) const {
    if (taps_.count == 0) return convert(row, to);
    if (short_row_ != nullptr)
      return short_row_(taps_.data, padded_pixels(row), elements(), to, row_prefetch(row));
    row_pass(taps_, channels_, padded_row(row), elements(), to, row_prefetch(row));
  }

  /// Filters a row outside the image under the constant border into `to`.
  void filter_constant(A* to) const {
    const A value = static_cast<A>(border_.value);
    if (taps_.count == 0) return void(std::fill_n(to, elements(), value));
    std::fill_n(padded_, (cols_ + taps_.count - 1) * channels_, value);
    row_pass(taps_, channels_, padded_, elements(), to);
  }

  /// Rows to prefetch while row `row` is filtered. A strip uses only a few cache lines of each row, too few
  /// for the hardware prefetcher, and prefetching them all in one burst would stall.
  RowPrefetch row_prefetch(std::int64_t row) const {
    const std::int64_t prefetched_row = row + ConvTuning::kPrefetchRows;
    if (prefetched_row >= in_.rect.row_end()) return {};
    return {inside_pixels(prefetched_row), inside_pixels(row + 1), size_of(in_.pixels.type)};
  }

  const std::byte* inside_pixels(std::int64_t row) const {
    return in_.pixels.row_data(row - in_.rect.row) +
           (columns_.inside_begin - in_.rect.col) * in_.pixels.pixel_bytes();
  }

 private:
  /// Converts a row without filtering it, in pieces, so that rows are prefetched piece by piece here too.
  void convert(std::int64_t row, A* to) const {
    const RowPrefetch prefetch = row_prefetch(row);
    const std::byte* const from = inside_pixels(row);
    const auto piece =
        RegisterBlocks::kRowPassVectors * static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<A>()));
    for (std::int64_t i = 0; i < elements(); i += piece) {
      prefetch.fetch(i, piece);
      load_(from + i * size_of(in_.pixels.type), std::min(piece, elements() - i), to + i);
    }
  }

  /// The elements under the row's taps: in the image itself, or copied to `padded_`.
  const A* padded_row(std::int64_t row) const {
    const std::byte* const from = inside_pixels(row);
    if (in_place_) return reinterpret_cast<const A*>(from);
    load_(from, columns_.inside() * channels_, padded_ + columns_.before() * channels_);
    extend_row(padded_, columns_, in_.image.cols, border_.mode, channels_, static_cast<A>(border_.value));
    return padded_;
  }

  /// padded_row without conversion; not for a constant border that is reached (see the constructor).
  const std::byte* padded_pixels(std::int64_t row) const {
    const std::int64_t bytes = in_.pixels.pixel_bytes();
    std::byte* const padded = reinterpret_cast<std::byte*>(padded_);
    const std::byte* const from = inside_pixels(row);
    std::copy_n(from, columns_.inside() * bytes, padded + columns_.before() * bytes);
    extend_row(padded, columns_, in_.image.cols, border_.mode, bytes, std::byte{});
    return padded;
  }

  Taps<A> taps_;
  Border border_;
  ConstRegion in_;
  std::int64_t channels_, cols_;
  PaddedColumns columns_;
  bool in_place_;
  A* padded_;
  LoadRow<A> load_;
  ShortRowPass<A> short_row_ = nullptr;
};

/// Ring buffer of row-filtered rows.
template <class A>
struct Ring {
  A* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t pitch = 0;

  /// 32-bit, because a 64-bit division is noticeable for small radii; rows are below kMaxSide.
  std::int64_t index(std::int64_t row) const {
    return static_cast<std::uint32_t>(row) % static_cast<std::uint32_t>(rows);
  }
  A* at(std::int64_t row) const { return data + index(row) * pitch; }
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
/// The rows under a block of output rows, mapped by the border, span no more image rows than the ring has,
/// because a border only folds the window back onto itself. Throws Cancelled when `worker` is stopped.
template <class A>
void march_strip(const RowFilter<A>& rows, Taps<A> taps, BorderMode border, const StripScratch<A>& scratch,
                 const Region& out, std::int64_t block_rows, const Worker& worker) {
  const ColumnPass<A> column_pass =
      column_pass_for<A>(out.pixels.type, stores_past_caches(out, pixel_type_of<A>()));
  const std::int64_t radius = taps.count / 2;
  if (border == BorderMode::constant) rows.filter_constant(scratch.constant_row);
  std::int64_t next_row = std::max<std::int64_t>(out.rect.row - radius, 0);
  for (std::int64_t row = out.rect.row; row < out.rect.row_end(); row += block_rows) {
    const std::int64_t height = std::min(block_rows, out.rect.row_end() - row);
    const std::int64_t needed_end = std::min(row + height + radius, out.image.rows);
    for (; next_row < needed_end; ++next_row) {
      worker.throw_if_stopped();
      rows.filter(next_row, scratch.ring.at(next_row));
    }
    for (std::int64_t j = 0; j < height + 2 * radius; ++j) {
      const std::int64_t image_row = border_index(row - radius + j, out.image.rows, border);
      scratch.window[j] = image_row < 0 ? scratch.constant_row : scratch.ring.at(image_row);
    }
    worker.throw_if_stopped();
    column_pass(taps, scratch.window, height, rows.elements(), out.pixels.row_data(row - out.rect.row),
                out.pixels.pitch_bytes);
  }
}

/// Filters a strip without a column pass: filters and stores as many rows at a time as the ring has.
template <class A>
void filter_strip_rows(const RowFilter<A>& rows, const Region& out, const Ring<A>& ring,
                       const Worker& worker) {
  const StoreRow<A> store = store_row_for<A>(out.pixels.type);
  for (std::int64_t first = out.rect.row; first < out.rect.row_end(); first += ring.rows) {
    worker.throw_if_stopped();
    const std::int64_t end = std::min(first + ring.rows, out.rect.row_end());
    for (std::int64_t row = first; row < end; ++row) rows.filter(row, ring.at(row));
    for (std::int64_t row = first; row < end; ++row)
      store(ring.at(row), rows.elements(), out.pixels.row_data(row - out.rect.row));
  }
}

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
