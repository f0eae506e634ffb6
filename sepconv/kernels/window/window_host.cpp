// Rows are made of windows along them, and go by a ring of rows that keeps what windows down the columns are
// made of. Where a ring of full rows would not stay in the cache, the region is cut into strips, each with a
// ring.
#include "sepconv/kernels/conv/padded_row.hpp"
#include "sepconv/kernels/simd/dispatch.hpp"
#include "sepconv/kernels/window/window_check.hpp"
#include "sepconv/kernels/window/window_sizes.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sepconv/kernels/window/window_host.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <array>
#include <utility>

#include "sepconv/kernels/window/elements-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {

/// The windows down the columns of rows that are handed over one by one.
template <class Join, class E>
class ColumnWindows {
 public:
  /// `row` rows have gone by before.
  ColumnWindows(std::int64_t neighbours, E* ring, std::int64_t pitch, std::int64_t row)
      : steps_(neighbours), ring_(ring), pitch_(pitch), row_(row) {}

  /// to[i]: of the rows up to this one, as many as the window has.
  void next(const E* row, std::int64_t count, E* to) {
    E* ring = ring_;
    for (int k = 0; k < steps_.levels; ++k) {
      const std::int64_t size = std::int64_t{1} << k, after = steps_.after(k);
      ColumnLevel<E>& level = levels_[static_cast<std::size_t>(k)];
      level.slot = ring + (row_ & (size - 1)) * pitch_;
      level.begins_sum = steps_.has(k) && after == 0;
      level.piece = steps_.has(k) && after > 0 ? ring + ((row_ - after) & (size - 1)) * pitch_ : nullptr;
      ring += size * pitch_;
    }
    E* const oldest = steps_.rest() > 0 ? ring + row_ % steps_.rest() * pitch_ : nullptr;
    window_columns<Join>(levels_.data(), steps_.levels, oldest, row, count, to);
    ++row_;
  }

 private:
  WindowSteps steps_;
  E* ring_;
  std::int64_t pitch_;
  std::int64_t row_;
  std::array<ColumnLevel<E>, 40> levels_{};
};

template <class Elements, class A>
class WindowPasses {
 public:
  using E = typename Elements::Element;
  using Join = typename Elements::Join;

  WindowPasses(const Window& window, const Border& border, const ConstRegion& in, const Region& out,
               Worker& worker)
      : window_(window),
        border_(border),
        in_(in),
        out_(out),
        worker_(worker),
        channels_(in.pixels.channels),
        elements_(window, in.pixels.type, out.pixels.type),
        sizes_(window, out.rect.extent(), channels_, sizeof(E)),
        padded_(worker.allocate<E>(sizes_.row)),
        line_(worker.allocate<E>(sizes_.row)),
        result_(worker.allocate<E>(sizes_.row)),
        constant_row_(worker.allocate<E>(sizes_.row)),
        room_(worker.allocate<A>(sizes_.row)),
        ring_(worker.allocate<E>(sizes_.rings * sizes_.kept_rows * sizes_.ring_pitch)) {}

  void run() {
    if (!sizes_.splits) return for_each_strip(out_.rect, [&](const Rect& strip) { run_strip(strip); });
    plane_ = worker_.allocate<E>(sizes_.plane_rows * sizes_.plane_pitch);
    window_.columns_first ? columns_then_rows() : rows_then_columns();
  }

 private:
  template <class Strip>
  void for_each_strip(const Rect& rect, const Strip& strip) const {
    for (std::int64_t col = rect.col; col < rect.col_end(); col += sizes_.strip_cols)
      strip(Rect{rect.row, col, rect.rows, std::min(sizes_.strip_cols, rect.col_end() - col)});
  }

  /// Elements [col, col + cols) of a row of the input.
  void load(std::int64_t row, std::int64_t col, std::int64_t cols, E* to) const {
    elements_.load(in_.pixels.row_data(row - in_.rect.row) + (col - in_.rect.col) * in_.pixels.pixel_bytes(),
                   cols * channels_, to);
  }

  void store(E* line, const Rect& strip, std::int64_t row) const {
    elements_.store(
        line, strip.cols * channels_, room_,
        out_.pixels.row_data(row - out_.rect.row) + (strip.col - out_.rect.col) * out_.pixels.pixel_bytes(),
        out_.past_caches);
  }

  /// The windows along the row that lies in padded_, but for its border.
  void pass_row(const PaddedColumns& columns, std::int64_t cols, E constant, E* to) {
    extend_row(padded_, columns, out_.image.cols, border_.mode, channels_, constant);
    window_row<Join>(WindowSteps(2 * window_.radius_x + 1), channels_, cols * channels_, padded_, to);
  }

  /// Those of a row of the input, for the columns of `strip`; `row` may lie outside, where a constant is.
  void filter_row(std::int64_t row, const Rect& strip, E* to) {
    const E constant = border_.mode == BorderMode::constant ? elements_.constant(border_.value) : E();
    const PaddedColumns columns(strip.col, strip.cols, window_.radius_x, out_.image.cols);
    E* const begin = padded_ + columns.before() * channels_;
    if (row < 0) {
      std::fill_n(begin, columns.inside() * channels_, constant);
    } else {
      load(row, columns.inside_begin, columns.inside(), begin);
    }
    pass_row(columns, strip.cols, constant, to);
  }

  /// Rows [begin, end) go by, of those that the result needs, which begin a radius above it: calls
  /// next_row(row, mapped) for each, `mapped` being where the border has it, -1 for one of a constant; and
  /// finished(row, line) for the result's own, with the windows down the columns of `strip`.
  template <class NextRow, class Finished>
  void march(const Rect& strip, std::int64_t ring, std::int64_t begin, std::int64_t end,
             const NextRow& next_row, const Finished& finished) {
    const std::int64_t first = out_.rect.row - window_.radius_y;
    ColumnWindows<Join, E> columns(2 * window_.radius_y + 1,
                                   ring_ + ring * sizes_.kept_rows * sizes_.ring_pitch, sizes_.ring_pitch,
                                   begin - first);
    for (std::int64_t row = begin; row < end; ++row) {
      worker_.throw_if_stopped();
      columns.next(next_row(row, border_index(row, out_.image.rows, border_.mode)), strip.cols * channels_,
                   result_);
      const std::int64_t middle = row - window_.radius_y;
      if (middle >= out_.rect.row) finished(middle, result_);
    }
  }

  /// Calls group(begin, end) for all rows that the result needs, so many at a time.
  template <class Group>
  void for_each_group(const Group& group) const {
    const std::int64_t last = out_.rect.row_end() + window_.radius_y;
    for (std::int64_t row = out_.rect.row - window_.radius_y; row < last; row += sizes_.plane_rows)
      group(row, std::min(row + sizes_.plane_rows, last));
  }

  void run_strip(const Rect& strip) {
    if (window_.radius_y == 0) {
      for (std::int64_t row = strip.row; row < strip.row_end(); ++row) {
        worker_.throw_if_stopped();
        filter_row(row, strip, line_);
        store(line_, strip, row);
      }
      return;
    }
    if (border_.mode == BorderMode::constant) filter_row(-1, strip, constant_row_);
    march(
        strip, 0, strip.row - window_.radius_y, strip.row_end() + window_.radius_y,
        [&](std::int64_t, std::int64_t row) -> const E* {
          if (row < 0) return constant_row_;
          filter_row(row, strip, line_);
          return line_;
        },
        [&](std::int64_t row, E* line) { store(line, strip, row); });
  }

  E* plane_at(std::int64_t row, std::int64_t col) const {
    return plane_ + row * sizes_.plane_pitch + col * channels_;
  }

  void rows_then_columns() {
    if (border_.mode == BorderMode::constant) filter_row(-1, out_.rect, constant_row_);
    for_each_group([&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) {
        worker_.throw_if_stopped();
        const std::int64_t mapped = border_index(row, out_.image.rows, border_.mode);
        if (mapped >= 0) filter_row(mapped, out_.rect, plane_at(row - begin, 0));
      }
      std::int64_t ring = 0;
      for_each_strip(out_.rect, [&](const Rect& strip) {
        march(
            strip, ring++, begin, end,
            [&](std::int64_t row, std::int64_t mapped) -> const E* {
              return mapped < 0 ? constant_row_ : plane_at(row - begin, strip.col - out_.rect.col);
            },
            [&](std::int64_t row, E* line) { store(line, strip, row); });
      });
    });
  }

  void columns_then_rows() {
    const Rect wide = out_.rect.grown(0, window_.radius_x).intersect(Rect::whole(out_.image));
    const PaddedColumns columns(out_.rect.col, out_.rect.cols, window_.radius_x, out_.image.cols);
    const E constant = border_.mode == BorderMode::constant ? elements_.constant(border_.value) : E();
    const E beyond = constant_column(constant);
    std::fill_n(constant_row_, sizes_.ring_pitch, constant);
    for_each_group([&](std::int64_t begin, std::int64_t end) {
      const std::int64_t first = begin - window_.radius_y;  // of the result, if it has such a row
      std::int64_t ring = 0;
      for_each_strip(wide, [&](const Rect& strip) {
        march(
            strip, ring++, begin, end,
            [&](std::int64_t, std::int64_t row) -> const E* {
              if (row < 0) return constant_row_;
              load(row, strip.col, strip.cols, line_);
              return line_;
            },
            [&](std::int64_t row, E* line) {
              std::copy_n(line, strip.cols * channels_, plane_at(row - first, strip.col - wide.col));
            });
      });
      for (std::int64_t row = std::max(first, out_.rect.row); row < end - window_.radius_y; ++row) {
        worker_.throw_if_stopped();
        std::copy_n(plane_at(row - first, 0), columns.inside() * channels_,
                    padded_ + columns.before() * channels_);
        pass_row(columns, out_.rect.cols, beyond, line_);
        store(line_, out_.rect, row);
      }
    });
  }

  /// The window down a column of it.
  E constant_column(E constant) const {
    if constexpr (Join::kSums)
      return sum_of_window<E>(2 * window_.radius_y + 1, [=](std::int64_t) { return constant; });
    return constant;
  }

  Window window_;
  Border border_;
  ConstRegion in_;
  Region out_;
  Worker& worker_;
  std::int64_t channels_;
  Elements elements_;
  WindowSizes sizes_;
  E *padded_, *line_, *result_, *constant_row_;
  A* room_;
  E* ring_;
  E* plane_ = nullptr;  ///< a group of rows between the passes
};

template <class A>
void run_window(const Window& window, const Border& border, const ConstRegion& in, const Region& out,
                Worker& worker) {
  const Arena::Scope scope(worker);
  if (window.op == Window::Op::sum)
    return WindowPasses<SummedElements<A>, A>(window, border, in, out, worker).run();
  visit_pixel_type(in.pixels.type, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_integral_v<T>) {
      if (is_pixel<T, A>(border))
        return WindowPasses<IntegerElements<T, A>, A>(window, border, in, out, worker).run();
    }
    WindowPasses<OrderedElements<A>, A>(window, border, in, out, worker).run();
  });
}

void window_f32(const Window& window, const Border& border, const ConstRegion& in, const Region& out,
                Worker& worker) {
  run_window<float>(window, border, in, out, worker);
}
void window_f64(const Window& window, const Border& border, const ConstRegion& in, const Region& out,
                Worker& worker) {
  run_window<double>(window, border, in, out, worker);
}

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sepconv {

HWY_EXPORT(window_f32);
HWY_EXPORT(window_f64);

namespace {

/// As it is computed: the order of passes shows in sums along both axes only.
Window computed(const Window& window, Extent image) {
  Window made = within(window, image);
  made.columns_first = made.columns_first && made.op == Window::Op::sum;
  return made;
}

}  // namespace

void window_host(const Window& window, const Border& border, const ConstRegion& in, const Region& out,
                 Arithmetic arithmetic, Worker& worker) {
  check_window(window, in, out);
  check_wrapped(window, border, out);
  if (out.rect.empty()) return;
  const Window made = computed(window, out.image);
  if (arithmetic == Arithmetic::f64) {
    HWY_DYNAMIC_DISPATCH(window_f64)(made, border, in, out, worker);
  } else {
    HWY_DYNAMIC_DISPATCH(window_f32)(made, border, in, out, worker);
  }
  if (out.past_caches) hwy::FlushStream();
}

std::int64_t window_scratch_bytes(const Window& window, Extent out, std::int64_t channels,
                                  Arithmetic arithmetic, Extent image) {
  if (out.empty()) return 0;
  const Window made = computed(window, image);
  const std::int64_t arithmetic_bytes = size_of(pixel_type_of(arithmetic));
  std::int64_t most = 0;
  for (std::int64_t bytes = 1; bytes <= arithmetic_bytes; bytes *= 2)
    most = std::max(most, WindowSizes(made, out, channels, bytes).scratch_bytes(arithmetic_bytes));
  return most;
}

}  // namespace sepconv
#endif
