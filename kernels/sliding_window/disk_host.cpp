// For each row the windows of 1, 2, 4, ... pixels are buffered. A chord is the minimum of two of these, and a
// result the minimum of all chords of the disk around it.
#include "kernels/conv/padded_row.hpp"
#include "kernels/simd/dispatch.hpp"
#include "kernels/sliding_window/disk.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/sliding_window/disk_host.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/sliding_window/elements-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {

/// A chord's two windows for the first result of a row.
template <class E>
struct ChordWindows {
  const E* first;
  const E* second;
};

/// to[i] is the minimum of element i of all windows, in whole blocks of four vectors. If there are several
/// chords, the first and the last have one pixel each, for which one load is enough.
template <class E>
void join_chords(const ChordWindows<E>* chords, std::int64_t count, std::int64_t elements, E* to) {
  constexpr int kVectors = 4;
  const hn::ScalableTag<E> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t i = 0; i < elements; i += kVectors * lanes) {
    hn::Vec<decltype(d)> minimum[kVectors];
    const E* const top = chords[0].first + i;
    const E* const bottom = chords[count - 1].second + i;
    SEPCONV_UNROLL for (int j = 0; j < kVectors; ++j) minimum[j] =
        hn::Min(hn::LoadU(d, top + j * lanes), hn::LoadU(d, bottom + j * lanes));
    for (std::int64_t c = 1; c < count - 1; ++c) {
      const E* const first = chords[c].first + i;
      const E* const second = chords[c].second + i;
      SEPCONV_UNROLL for (int j = 0; j < kVectors; ++j) minimum[j] =
          hn::Min(minimum[j], hn::Min(hn::LoadU(d, first + j * lanes), hn::LoadU(d, second + j * lanes)));
    }
    SEPCONV_UNROLL for (int j = 0; j < kVectors; ++j) hn::StoreU(minimum[j], d, to + i + j * lanes);
  }
}

template <class Elements, class A>
class DiskPass {
 public:
  using E = typename Elements::Element;

  DiskPass(const Window& window, const Border& border, const ConstRegion& in, const Region& out,
           Worker& worker)
      : window_(window),
        border_(border),
        in_(in),
        out_(out),
        worker_(worker),
        channels_(in.pixels.channels),
        elements_(window, in.pixels.type, out.pixels.type),
        constant_(border.mode == BorderMode::constant ? elements_.constant(border.value) : E()),
        sizes_(window, out.rect.extent(), channels_, sizeof(E)),
        windows_(worker.allocate<E>(sizes_.levels * sizes_.rows * sizes_.pitch)),
        line_(worker.allocate<E>(sizes_.pitch)),
        converted_(worker.allocate<A>(sizes_.pitch)),
        chords_(worker.allocate<Chord>(sizes_.rows)),
        chord_windows_(worker.allocate<ChordWindows<E>>(sizes_.rows)) {
    for (std::int64_t i = 0; i < sizes_.rows; ++i) chords_[i] = chord_of(window, i - window.radius_y);
  }

  void run() {
    const Rect& rect = out_.rect;
    for (std::int64_t col = rect.col; col < rect.col_end(); col += sizes_.strip_cols)
      run_strip({rect.row, col, rect.rows, std::min(sizes_.strip_cols, rect.col_end() - col)});
  }

 private:
  void run_strip(const Rect& strip) {
    for (std::int64_t row = strip.row - window_.radius_y; row < strip.row_end() + window_.radius_y; ++row) {
      worker_.throw_if_stopped();
      buffer_row(row, strip);
      if (row - window_.radius_y >= strip.row) compute_row(row - window_.radius_y, strip);
    }
  }

  /// Windows of 2^level pixels along a row: the padding, then a strip's columns with a radius on both sides.
  E* windows_of_level(int level, std::int64_t row) const {
    const std::int64_t slot = (row - out_.rect.row + window_.radius_y) % sizes_.rows;
    return windows_ + (level * sizes_.rows + slot) * sizes_.pitch;
  }

  void buffer_row(std::int64_t row, const Rect& strip) {
    const PaddedColumns columns(strip.col, strip.cols, window_.radius_x, out_.image.cols);
    const std::int64_t elements = sizes_.padding + (columns.end - columns.first) * channels_;
    const std::int64_t mapped = border_index(row, out_.image.rows, border_.mode);
    E* const line = windows_of_level(0, row) + sizes_.padding;
    if (mapped < 0) {
      std::fill_n(line, elements, constant_);
    } else {
      elements_.load(in_.pixels.row_data(mapped - in_.rect.row) +
                         (columns.inside_begin - in_.rect.col) * in_.pixels.pixel_bytes(),
                     columns.inside() * channels_, line + columns.before() * channels_);
      extend_row(line, columns, out_.image.cols, border_.mode, channels_, constant_);
    }
    for (int level = 0; level + 1 < sizes_.levels; ++level) {
      const std::int64_t size = std::int64_t{1} << level;
      const E* const half = windows_of_level(level, row);
      join_rows<Minimum>(half, half + size * channels_, elements - (2 * size - 1) * channels_,
                         windows_of_level(level + 1, row));
    }
  }

  void compute_row(std::int64_t row, const Rect& strip) {
    for (std::int64_t i = 0; i < sizes_.rows; ++i) {
      const Chord& chord = chords_[i];
      const E* const windows = windows_of_level(chord.level, row - window_.radius_y + i) + sizes_.padding;
      chord_windows_[i] = {windows + chord.first(window_.radius_x) * channels_,
                           windows + chord.second(window_.radius_x) * channels_};
    }
    join_chords(chord_windows_, sizes_.rows, strip.cols * channels_, line_);
    elements_.store(
        line_, strip.cols * channels_, converted_,
        out_.pixels.row_data(row - out_.rect.row) + (strip.col - out_.rect.col) * out_.pixels.pixel_bytes(),
        out_.past_caches);
  }

  Window window_;
  Border border_;
  ConstRegion in_;
  Region out_;
  Worker& worker_;
  std::int64_t channels_;
  Elements elements_;
  E constant_;
  DiskSizes sizes_;
  E *windows_, *line_;
  A* converted_;
  Chord* chords_;
  ChordWindows<E>* chord_windows_;
};

template <class A>
void run_disk(const Window& window, const Border& border, const ConstRegion& in, const Region& out,
              Worker& worker) {
  const Arena::Scope scope(worker);
  visit_pixel_type(in.pixels.type, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_integral_v<T>) {
      if (is_pixel<T, A>(border))
        return DiskPass<IntegerElements<T, A>, A>(window, border, in, out, worker).run();
    }
    DiskPass<RankedElements<A>, A>(window, border, in, out, worker).run();
  });
}

void disk_f32(const Window& window, const Border& border, const ConstRegion& in, const Region& out,
              Worker& worker) {
  run_disk<float>(window, border, in, out, worker);
}
void disk_f64(const Window& window, const Border& border, const ConstRegion& in, const Region& out,
              Worker& worker) {
  run_disk<double>(window, border, in, out, worker);
}

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sepconv {

static_assert(sizeof(Chord) == 2 * sizeof(void*));

HWY_EXPORT(disk_f32);
HWY_EXPORT(disk_f64);

void disk_host(const Window& window, const Border& border, const ConstRegion& in, const Region& out,
               Arithmetic arithmetic, Worker& worker) {
  if (arithmetic == Arithmetic::f64) {
    HWY_DYNAMIC_DISPATCH(disk_f64)(window, border, in, out, worker);
  } else {
    HWY_DYNAMIC_DISPATCH(disk_f32)(window, border, in, out, worker);
  }
}

std::int64_t disk_scratch_bytes(const Window& window, Extent out, std::int64_t channels,
                                Arithmetic arithmetic) {
  const std::int64_t arithmetic_bytes = size_of(pixel_type_of(arithmetic));
  std::int64_t max_bytes = 0;
  for (std::int64_t bytes = 1; bytes <= arithmetic_bytes; bytes *= 2) {
    const DiskSizes sizes(window, out, channels, bytes);
    max_bytes = std::max(max_bytes, Arena::bytes_for(sizes.levels * sizes.rows * sizes.pitch * bytes) +
                                        Arena::bytes_for(sizes.pitch * bytes) +
                                        Arena::bytes_for(sizes.pitch * arithmetic_bytes));
  }
  return max_bytes + 2 * Arena::bytes_for((2 * window.radius_y + 1) * std::int64_t{sizeof(Chord)});
}

}  // namespace sepconv
#endif
