#include <limits>

#include "kernels/pointwise/missing.hpp"
#include "kernels/rank/rank.hpp"
#include "kernels/rank/rank_block.hpp"
#include "kernels/simd/dispatch.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rank/rank_host.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/rank/column_counts-inl.h"
#include "kernels/rank/moving_window-inl.h"
#include "kernels/rank/small_medians-inl.h"
#include "kernels/rank/sorting_network_row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {

/// Stores rows of elements E as pixels.
template <class E, class A>
class RankWriter {
 public:
  RankWriter(const Region& out, std::int64_t elements, Arena& arena)
      : out_(out), store_(store_row_for<A>(out.pixels.type)), load_(load_row_for<A>(pixel_type_of<E>())) {
    values = arena.allocate<E>(elements);
    converted_ = std::is_same_v<E, A> ? reinterpret_cast<A*>(values) : arena.allocate<A>(elements);
  }

  /// Buffer for row `row` of `block`: the result itself if its elements are of type E and aligned, else
  /// `values`, which needs store().
  E* target(const Rect& block, std::int64_t row) const {
    const auto at = reinterpret_cast<std::uintptr_t>(address(block, row));
    const bool fits = out_.pixels.type == pixel_type_of<E>() && at % alignof(E) == 0;
    return fits ? reinterpret_cast<E*>(address(block, row)) : values;
  }

  /// Stores `values` as row `row` of `block`.
  void store(const Rect& block, std::int64_t row) const {
    const PixelView& pixels = out_.pixels;
    const std::int64_t elements = block.cols * pixels.channels;
    std::byte* const to = address(block, row);
    if (pixels.type == pixel_type_of<E>()) {
      std::memcpy(to, values, static_cast<std::size_t>(elements) * sizeof(E));
      return;
    }
    if (!std::is_same_v<E, A>) load_(reinterpret_cast<const std::byte*>(values), elements, converted_);
    store_(converted_, elements, to);
  }

  E* values;

 private:
  std::byte* address(const Rect& block, std::int64_t row) const {
    const PixelView& pixels = out_.pixels;
    return pixels.row_data(block.row + row - out_.rect.row) +
           (block.col - out_.rect.col) * pixels.pixel_bytes();
  }

  const Region& out_;
  StoreRow<A> store_;
  LoadRow<A> load_;
  A* converted_;
};

/// Computes parts of a block by moving windows, each channel separately; the values of all rows are buffered
/// until all channels are done.
template <class E, class A>
void rank_by_moving_window(const RankFilter& filter, const RankInput<E>& input, const RankLayout& layout,
                           const Rect& block, const Region& out, Worker& worker) {
  const std::int64_t channels = out.pixels.channels;
  const Arena::Scope scope(worker);
  const MovingWindowScratch<E> scratch(worker, layout.moving_area(filter.window));
  const std::int64_t pitch = layout.moving_cols * channels;
  E* const values = worker.allocate<E>(layout.rows * pitch);
  for (std::int64_t col = 0; col < block.cols; col += layout.moving_cols) {
    const Rect part{block.row, block.col + col, block.rows, std::min(layout.moving_cols, block.cols - col)};
    for (std::int64_t channel = 0; channel < channels; ++channel) {
      MovingWindow<E> window(filter, {input.data + col * channels + channel, input.pitch}, channels,
                             part.extent(), scratch);
      window.run([&](std::int64_t row) { return values + row * pitch + channel; },
                 [&] { worker.throw_if_stopped(); });
    }
    const Arena::Scope row_scope(worker);
    const RankWriter<E, A> writer(out, pitch, worker);
    for (std::int64_t row = 0; row < part.rows; ++row) {
      std::copy_n(values + row * pitch, part.cols * channels, writer.values);
      writer.store(part, row);
    }
  }
}

/// Whether a line of a block's input contains NaN.
template <class E>
bool has_nan(const RankInput<E>& input, std::int64_t line, std::int64_t elements) {
  if constexpr (!std::is_floating_point_v<E>) return false;
  const ConstPixelView pixels{reinterpret_cast<const std::byte*>(input.row(line)),
                              {1, elements},
                              1,
                              pixel_type_of<E>(),
                              elements * static_cast<std::int64_t>(sizeof(E))};
  return find_missing_state(pixels, std::numeric_limits<double>::quiet_NaN()) != MissingState::none_missing;
}

/// Whether the sorting network is the fastest method for elements of E.
template <class E>
bool prefers_network(const RankFilter& filter) {
  if (!filter.network) return false;
  if (is_small_median<3>(filter) || is_small_median<5>(filter)) return true;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<E>()));
  const bool counts = sizeof(E) == 1 && uses_column_counts(filter.window);
  const std::int64_t max_operations =
      counts ? RankTuning::kMaxBeforeCounts
             : RankTuning::kMaxBeforeMoving + RankTuning::kMaxForEachRow * filter.window.lines();
  return filter.network->operations() <= max_operations * lanes;
}

/// Calls sorter.run(input, count, to) row by row. Lines are checked just before; returns false at the first
/// NaN, after which the block must be computed again.
template <class E, class A, class Sorter>
bool sort_rows(const Sorter& sorter, const RankFilter& filter, const RankInput<E>& input, const Rect& block,
               const Region& out, const RankWriter<E, A>& writer, Worker& worker) {
  const std::int64_t channels = out.pixels.channels, planes = filter.window.planes();
  const std::int64_t elements = (block.cols + filter.window.cols() - 1) * channels;
  std::int64_t checked_lines = 0;
  for (std::int64_t row = 0; row < block.rows; ++row) {
    worker.throw_if_stopped();
    for (; checked_lines < row * planes + filter.window.lines(); ++checked_lines)
      if (has_nan(input, checked_lines, elements)) return false;
    E* const to = writer.target(block, row);
    sorter.run({input.row(row * planes), input.pitch}, block.cols * channels, to);
    if (to == writer.values) writer.store(block, row);
  }
  return true;
}

template <class E, class A>
bool sort_by_network(const RankFilter& filter, const RankInput<E>& input, const Rect& block,
                     const Region& out, const RankWriter<E, A>& writer, Worker& worker) {
  const Arena::Scope scope(worker);
  const std::int64_t channels = out.pixels.channels, elements = block.cols * channels;
  const auto sort_with = [&](const auto& sorter) {
    return sort_rows(sorter, filter, input, block, out, writer, worker);
  };
  if (is_small_median<3>(filter)) return sort_with(SmallMedian<E, 3>(elements, channels, worker));
  if (is_small_median<5>(filter)) return sort_with(SmallMedian<E, 5>(elements, channels, worker));
  return sort_with(NetworkRow<E>(*filter.network, channels, worker));
}

/// Computes a block in parts by column histograms.
template <class A>
void rank_by_column_counts(const RankFilter& filter, const RankInput<std::uint8_t>& input,
                           std::int64_t part_cols, const Rect& block, const Region& out,
                           const RankWriter<std::uint8_t, A>& writer, Worker& worker) {
  const std::int64_t channels = out.pixels.channels, planes = filter.window.planes();
  for (std::int64_t col = 0; col < block.cols; col += part_cols) {
    const Rect part{block.row, block.col + col, block.rows, std::min(part_cols, block.cols - col)};
    const Arena::Scope scope(worker);
    ColumnCounts counts(filter, part.cols, channels, worker);
    const RankInput<std::uint8_t> from{input.data + col * channels, input.pitch};
    counts.begin(from);
    for (std::int64_t row = 0; row < part.rows; ++row) {
      worker.throw_if_stopped();
      for (std::int64_t line = (row - 1) * planes; row > 0 && line < row * planes; ++line)
        counts.step(from.row(line), from.row(line + filter.window.lines()));
      counts.rank(part.cols, writer.values);
      writer.store(part, row);
    }
  }
}

/// Computes one block by the method that is fastest for its elements.
template <class E, class A>
void rank_block(const RankFilter& filter, const RankInput<E>& input, const RankLayout& layout,
                const Rect& block, const Region& out, const RankWriter<E, A>& writer, Worker& worker) {
  if (prefers_network<E>(filter)) {
    if (sort_by_network(filter, input, block, out, writer, worker)) return;
  } else if constexpr (std::is_same_v<E, std::uint8_t>) {
    if (uses_column_counts(filter.window))
      return rank_by_column_counts(filter, input, layout.moving_cols, block, out, writer, worker);
  }
  rank_by_moving_window<E, A>(filter, input, layout, block, out, worker);
}

template <class E, class A>
void rank_region(const RankFilter& filter, const Border& border, std::span<const ConstRegion> planes,
                 const Region& out, Worker& worker) {
  const Arena::Scope scope(worker);
  const std::int64_t channels = out.pixels.channels;
  const RankLayout layout(filter.window, out.rect.extent(), channels);
  const RankReader<E> reader(filter, border, planes);
  E* const padded = worker.allocate<E>(layout.padded_rows * layout.padded_pitch);
  const RankWriter<E, A> writer(out, layout.cols * channels + RankTuning::kSlackElements, worker);
  for (std::int64_t row = out.rect.row; row < out.rect.row_end(); row += layout.rows) {
    for (std::int64_t col = out.rect.col, end = col; col < out.rect.col_end(); col = end) {
      end = prefers_network<E>(filter) ? reader.block_end(col, layout.cols) : col + layout.cols;
      const Rect block = Rect{row, col, layout.rows, end - col}.intersect(out.rect);
      rank_block(filter, reader.block(block, padded, layout.padded_pitch), layout, block, out, writer,
                 worker);
    }
  }
}

template <class A>
void rank_as(const RankFilter& filter, const Border& border, std::span<const ConstRegion> planes,
             const Region& out, Worker& worker) {
  const Arithmetic arithmetic = sizeof(A) == 4 ? Arithmetic::f32 : Arithmetic::f64;
  const PixelType type = centre_plane(filter.window, planes).pixels.type;
  visit_pixel_type(rank_elements(type, border, arithmetic), [&]<class E>(std::type_identity<E>) {
    if constexpr (sizeof(E) <= sizeof(A)) rank_region<E, A>(filter, border, planes, out, worker);
  });
}

void rank_f32(const RankFilter& filter, const Border& border, std::span<const ConstRegion> planes,
              const Region& out, Worker& worker) {
  rank_as<float>(filter, border, planes, out, worker);
}
void rank_f64(const RankFilter& filter, const Border& border, std::span<const ConstRegion> planes,
              const Region& out, Worker& worker) {
  rank_as<double>(filter, border, planes, out, worker);
}

/// Maximum scratch bytes over all element types, which are at most as large as the arithmetic type.
template <class A>
std::int64_t max_scratch_bytes(const RankFilter& filter, Extent out, std::int64_t channels) {
  const RankLayout layout(filter.window, out, channels);
  const auto bytes = [](std::int64_t count) {
    return Arena::bytes_for(count * static_cast<std::int64_t>(sizeof(A)));
  };
  const std::int64_t row = layout.cols * channels + RankTuning::kSlackElements;
  const std::int64_t pitch = layout.moving_cols * channels;
  const std::int64_t moving = MovingWindowScratch<A>::bytes(layout.moving_area(filter.window), sizeof(A)) +
                              bytes(layout.rows * pitch) + 2 * bytes(pitch);
  std::int64_t network = 0;
  if (filter.network) {
    const auto network_bytes = [&]<class E>(E) {
      return (filter.network->slots() - filter.network->rows()) *
             NetworkRow<E>::slot_pitch(*filter.network, channels) * static_cast<std::int64_t>(sizeof(E));
    };
    network = Arena::bytes_for(std::max({network_bytes(std::uint8_t()), network_bytes(std::uint16_t()),
                                         network_bytes(float()), network_bytes(double())})) +
              Arena::bytes_for(filter.network->slots() * static_cast<std::int64_t>(sizeof(void*)));
    network = std::max(network, bytes(SmallMedian<A, 5>::scratch_elements(layout.cols * channels, channels)));
  }
  const std::int64_t counts =
      ColumnCounts::bytes(ColumnCounts::row_elements(filter.window, layout.moving_cols, channels));
  return bytes(layout.padded_rows * layout.padded_pitch) + 2 * bytes(row) +
         std::max({moving, network, counts});
}

std::int64_t scratch_f32(const RankFilter& filter, Extent out, std::int64_t channels) {
  return max_scratch_bytes<float>(filter, out, channels);
}
std::int64_t scratch_f64(const RankFilter& filter, Extent out, std::int64_t channels) {
  return max_scratch_bytes<double>(filter, out, channels);
}

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sepconv {

HWY_EXPORT(rank_f32);
HWY_EXPORT(rank_f64);
HWY_EXPORT(scratch_f32);
HWY_EXPORT(scratch_f64);

void rank_host(const RankFilter& filter, const Border& border, std::span<const ConstRegion> planes,
               const Region& out, Arithmetic arithmetic, Worker& worker) {
  check_rank(filter, border, planes, out, true);
  if (out.rect.empty()) return;
  if (arithmetic == Arithmetic::f64)
    HWY_DYNAMIC_DISPATCH(rank_f64)(filter, border, planes, out, worker);
  else
    HWY_DYNAMIC_DISPATCH(rank_f32)(filter, border, planes, out, worker);
}

std::int64_t rank_scratch_bytes(const RankFilter& filter, Extent out, std::int64_t channels,
                                Arithmetic arithmetic) {
  if (out.empty()) return 0;
  if (arithmetic == Arithmetic::f64) return HWY_DYNAMIC_DISPATCH(scratch_f64)(filter, out, channels);
  return HWY_DYNAMIC_DISPATCH(scratch_f32)(filter, out, channels);
}

}  // namespace sepconv
#endif
