// Windows along each row, then windows down the columns from buffered rows. If the buffer would not stay in
// the cache, the region is divided into strips with separate buffers. Included once per target.
#if defined(SEPCONV_WINDOW_PASSES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SEPCONV_WINDOW_PASSES_INL_H
#undef SEPCONV_WINDOW_PASSES_INL_H
#else
#define SEPCONV_WINDOW_PASSES_INL_H
#endif

#include <algorithm>

#include "kernels/sliding_window/elements-inl.h"
#include "kernels/sliding_window/rows-inl.h"
#include "kernels/sliding_window/van_herk_columns-inl.h"
#include "kernels/sliding_window/window_check.hpp"
#include "kernels/sliding_window/window_sizes.hpp"

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {

template <class Elements>
using DefaultColumns = std::conditional_t<Elements::Join::kSums, ColumnSums<typename Elements::Element>,
                                          ColumnBlocks<typename Elements::Element>>;

template <class Elements, class A, class Columns = DefaultColumns<Elements>>
class WindowPasses {
 public:
  using E = typename Elements::Element;
  using Join = typename Elements::Join;
  using Result = typename Columns::Result;
  /// Whether windows along rows have the type of results.
  static constexpr bool kRowsAreResults = std::is_same_v<E, Result>;

  WindowPasses(const Window& window, const Border& border, const ConstRegion& in, const Region& out,
               Worker& worker)
      : WindowPasses(window, border, in, out, worker, Elements(window, in.pixels.type, out.pixels.type)) {}
  WindowPasses(const Window& window, const Border& border, const ConstRegion& in, const Region& out,
               Worker& worker, const Elements& elements)
      : window_(window),
        border_(border),
        in_(in),
        out_(out),
        worker_(worker),
        channels_(in.pixels.channels * Elements::kElementsPerSample),
        elements_(elements),
        sizes_(window, out.rect.extent(), channels_, sizeof(E)),
        rows_(window, border, in, out.image.cols, elements, worker.allocate<E>(sizes_.row)),
        line_(worker.allocate<E>(sizes_.row)),
        result_(worker.allocate<Result>(sizes_.row)),
        constant_row_(worker.allocate<E>(sizes_.row)),
        scratch_(worker.allocate<A>(sizes_.row)),
        buffer_(worker.allocate<E>(sizes_.strips * sizes_.buffer_rows * sizes_.buffer_pitch)) {}

  void run() {
    if (!sizes_.splits) return for_each_strip(out_.rect, [&](const Rect& strip) { run_strip(strip); });
    plane_ = worker_.allocate<E>(sizes_.plane_rows * sizes_.plane_pitch);
    if constexpr (kRowsAreResults) {
      if (window_.columns_first) return columns_then_rows();
    }
    rows_then_columns();
  }

 private:
  template <class Strip>
  void for_each_strip(const Rect& rect, const Strip& strip) const {
    for (std::int64_t col = rect.col; col < rect.col_end(); col += sizes_.strip_cols)
      strip(Rect{rect.row, col, rect.rows, std::min(sizes_.strip_cols, rect.col_end() - col)});
  }

  /// Calls piece(rect) for pieces of a row, as wide as row buffers.
  template <class Piece>
  void for_each_piece(const Rect& rect, const Piece& piece) const {
    for (std::int64_t col = rect.col; col < rect.col_end(); col += sizes_.piece_cols)
      piece(Rect{rect.row, col, rect.rows, std::min(sizes_.piece_cols, rect.col_end() - col)});
  }

  std::byte* result_at(std::int64_t row, std::int64_t col) const {
    return out_.pixels.row_data(row - out_.rect.row) + (col - out_.rect.col) * out_.pixels.pixel_bytes();
  }

  void store(Result* line, const Rect& piece, std::int64_t row) const {
    std::byte* const to = result_at(row, piece.col);
    const std::int64_t count = piece.cols * out_.pixels.channels;
    if constexpr (Elements::kElementsPerSample == 1)
      elements_.store(line, count, scratch_, to, out_.past_caches);
    if constexpr (Elements::kElementsPerSample > 1)
      elements_.store(line, rows_.pixels_at(row, piece.col), count, scratch_, to);
  }

  /// Adds rows [begin, end) of those that the result needs, which begin a radius above it. Calls
  /// next_row(row, mapped, piece, to) for each piece of each row; it returns the row's elements, in `to` or
  /// elsewhere. `mapped` is the row that the border maps to, or -1 for the constant. Calls finished(row,
  /// piece, line) for rows of the result with the windows down the columns of `piece`.
  template <class NextRow, class Finished>
  void add_rows_of_strip(const Rect& strip, std::int64_t strip_index, std::int64_t begin, std::int64_t end,
                         const NextRow& next_row, const Finished& finished) {
    const std::int64_t first = out_.rect.row - window_.radius_y;
    Columns columns(2 * window_.radius_y + 1,
                    buffer_ + strip_index * sizes_.buffer_rows * sizes_.buffer_pitch, sizes_.buffer_pitch,
                    begin - first);
    for (std::int64_t row = begin; row < end; ++row) {
      worker_.throw_if_stopped();
      const std::int64_t mapped = border_index(row, out_.image.rows, border_.mode);
      const std::int64_t middle = row - window_.radius_y;
      columns.begin_row();
      for_each_piece(strip, [&](const Rect& piece) {
        const std::int64_t at = (piece.col - strip.col) * channels_, count = piece.cols * channels_;
        const E* const line = next_row(row, mapped, piece, columns.input_buffer(at, line_));
        bool is_stored = false;
        if constexpr (!Join::kSums) {
          if (middle >= out_.rect.row)
            is_stored = store_window_pixels(columns, elements_, line, at, count, result_at(middle, piece.col),
                                            out_.past_caches);
        }
        if (!is_stored) columns.add_row(line, at, count, result_);
        rows_.prefetcher.fetch();
        if (middle >= out_.rect.row && !is_stored) finished(middle, piece, result_);
        rows_.prefetcher.fetch();
      });
      columns.end_row(strip.cols * channels_);
    }
  }

  /// Calls group(begin, end) for all rows that the result needs, plane_rows at a time.
  template <class Group>
  void for_each_group(const Group& group) const {
    const std::int64_t last = out_.rect.row_end() + window_.radius_y;
    for (std::int64_t row = out_.rect.row - window_.radius_y; row < last; row += sizes_.plane_rows)
      group(row, std::min(row + sizes_.plane_rows, last));
  }

  void run_rows(const Rect& strip) {
    for (std::int64_t row = strip.row; row < strip.row_end(); ++row) {
      worker_.throw_if_stopped();
      for_each_piece(strip, [&](const Rect& piece) {
        rows_.filter(row, piece, line_);
        store(line_, piece, row);
      });
    }
  }

  void run_strip(const Rect& strip) {
    rows_.prefetcher = RowPrefetcher(strip.grown(0, window_.radius_x).intersect(in_.rect));
    if constexpr (kRowsAreResults) {
      if (window_.radius_y == 0) return run_rows(strip);
    }
    fill_constant_row();
    add_rows_of_strip(
        strip, 0, strip.row - window_.radius_y, strip.row_end() + window_.radius_y,
        [&](std::int64_t, std::int64_t row, const Rect& piece, E* to) -> const E* {
          if (row < 0) return constant_row_;
          rows_.filter(row, piece, to);
          return to;
        },
        [&](std::int64_t row, const Rect& piece, Result* line) { store(line, piece, row); });
  }

  /// Fills constant_row_ with the windows along a row of the border's constant.
  void fill_constant_row() {
    if (border_.mode == BorderMode::constant)
      std::fill_n(constant_row_, sizes_.row,
                  constant_line(elements_.constant(border_.value), window_.radius_x));
  }

  E* plane_at(std::int64_t row, std::int64_t col) const {
    return plane_ + row * sizes_.plane_pitch + col * channels_;
  }

  void rows_then_columns() {
    rows_.prefetcher = RowPrefetcher(in_.rect);
    fill_constant_row();
    for_each_group([&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) {
        worker_.throw_if_stopped();
        const std::int64_t mapped = border_index(row, out_.image.rows, border_.mode);
        if (mapped < 0) continue;
        for_each_piece(out_.rect, [&](const Rect& piece) {
          rows_.filter(mapped, piece, plane_at(row - begin, piece.col - out_.rect.col));
        });
      }
      std::int64_t strip_index = 0;
      for_each_strip(out_.rect, [&](const Rect& strip) {
        add_rows_of_strip(
            strip, strip_index++, begin, end,
            [&](std::int64_t row, std::int64_t mapped, const Rect& piece, E*) -> const E* {
              return mapped < 0 ? constant_row_ : plane_at(row - begin, piece.col - out_.rect.col);
            },
            [&](std::int64_t row, const Rect& piece, Result* line) { store(line, piece, row); });
      });
    });
  }

  void columns_then_rows() {
    const Rect wide = out_.rect.grown(0, window_.radius_x).intersect(Rect::whole(out_.image));
    const E constant = border_.mode == BorderMode::constant ? elements_.constant(border_.value) : E();
    const E constant_sum = constant_line(constant, window_.radius_y);
    std::fill_n(constant_row_, sizes_.row, constant);
    for_each_group([&](std::int64_t begin, std::int64_t end) {
      const std::int64_t first = begin - window_.radius_y;  // row of the result, or above it
      std::int64_t strip_index = 0;
      for_each_strip(wide, [&](const Rect& strip) {
        add_rows_of_strip(
            strip, strip_index++, begin, end,
            [&](std::int64_t, std::int64_t row, const Rect& piece, E* to) -> const E* {
              if (row < 0) return constant_row_;
              rows_.load(row, piece.col, piece.cols, to);
              return to;
            },
            [&](std::int64_t row, const Rect& piece, E* line) {
              std::copy_n(line, piece.cols * channels_, plane_at(row - first, piece.col - wide.col));
            });
      });
      for (std::int64_t row = std::max(first, out_.rect.row); row < end - window_.radius_y; ++row) {
        worker_.throw_if_stopped();
        for_each_piece(out_.rect, [&](const Rect& piece) {
          const std::int64_t inside = std::max<std::int64_t>(piece.col - window_.radius_x, 0);
          rows_.filter_elements(plane_at(row - first, inside - wide.col), piece, constant_sum, line_);
          store(line_, piece, row);
        });
      }
    });
  }

  /// The window along a row or column of a constant.
  static E constant_line(E constant, std::int64_t radius) {
    if constexpr (Join::kSums)
      return sum_of_window<E>(2 * radius + 1, [=](std::int64_t) { return constant; });
    return constant;
  }

  Window window_;
  Border border_;
  ConstRegion in_;
  Region out_;
  Worker& worker_;
  std::int64_t channels_;  ///< elements of a pixel
  Elements elements_;
  WindowSizes sizes_;
  WindowRows<Elements> rows_;
  E* line_;
  Result* result_;
  E* constant_row_;
  A* scratch_;
  E* buffer_;
  E* plane_ = nullptr;  ///< a group of rows between the passes
};

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
