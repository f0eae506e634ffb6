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

/// Stores rows of E as pixels.
template <class E, class A>
class RankWriter {
 public:
  RankWriter(const Region& out, std::int64_t elements, Arena& arena)
      : out_(out), store_(store_row_for<A>(out.pixels.type)), load_(load_row_for<A>(pixel_type_of<E>())) {
    values = arena.allocate<E>(elements);
    converted_ = std::is_same_v<E, A> ? reinterpret_cast<A*>(values) : arena.allocate<A>(elements);
  }

  /// Where row `row` of `block` is made, before store(): the result itself, if that has such elements.
  E* target(const Rect& block, std::int64_t row) const {
    const auto at = reinterpret_cast<std::uintptr_t>(place(block, row));
    const bool fits = out_.pixels.type == pixel_type_of<E>() && at % alignof(E) == 0;
    return fits ? reinterpret_cast<E*>(place(block, row)) : values;
  }

  /// The values, a row of `block`, as row `row` of it.
  void store(const Rect& block, std::int64_t row) const {
    const PixelView& pixels = out_.pixels;
    const std::int64_t elements = block.cols * pixels.channels;
    std::byte* const to = place(block, row);
    if (pixels.type == pixel_type_of<E>()) {
      std::memcpy(to, values, static_cast<std::size_t>(elements) * sizeof(E));
      return;
    }
    if (!std::is_same_v<E, A>) load_(reinterpret_cast<const std::byte*>(values), elements, converted_);
    store_(converted_, elements, to);
  }

  E* values;

 private:
  std::byte* place(const Rect& block, std::int64_t row) const {
    const PixelView& pixels = out_.pixels;
    return pixels.row_data(block.row + row - out_.rect.row) +
           (block.col - out_.rect.col) * pixels.pixel_bytes();
  }

  const Region& out_;
  StoreRow<A> store_;
  LoadRow<A> load_;
  A* converted_;
};

/// Parts of a block, each channel for itself; the values of all rows are kept until all channels are done.
template <class E, class A>
void move_over(const RankFilter& filter, const RankInput<E>& input, const RankLayout& layout,
               const Rect& block, const Region& out, Worker& worker) {
  const std::int64_t channels = out.pixels.channels;
  const Arena::Scope scope(worker);
  const MovingScratch<E> scratch(worker, layout.moving_area(filter.window));
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

/// In a line of a block's input.
template <class E>
bool has_nan(const RankInput<E>& input, std::int64_t line, std::int64_t elements) {
  if constexpr (!std::is_floating_point_v<E>) return false;
  const ConstPixelView pixels{reinterpret_cast<const std::byte*>(input.row(line)),
                              {1, elements},
                              1,
                              pixel_type_of<E>(),
                              elements * static_cast<std::int64_t>(sizeof(E))};
  return presence_of(pixels, std::numeric_limits<double>::quiet_NaN()) != ValidMask::all_there;
}

/// Whether values are sorted by the network: it takes less time than what else there is for elements of E.
template <class E>
bool takes_network(const RankFilter& filter) {
  if (!filter.network) return false;
  if (is_small_median<3>(filter) || is_small_median<5>(filter)) return true;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<E>()));
  const bool counts = sizeof(E) == 1 && counts_columns(filter.window);
  const std::int64_t most =
      counts ? RankTuning::kMaxBeforeCounts
             : RankTuning::kMaxBeforeMoving + RankTuning::kMaxForEachRow * filter.window.lines();
  return filter.network->operations() <= most * lanes;
}

/// What has run(input, count, to), row by row, of lines that are looked at just before. False where one has a
/// NaN: what was stored is to be made again.
template <class E, class A, class Sorter>
bool sort_rows(const Sorter& sorter, const RankFilter& filter, const RankInput<E>& input, const Rect& block,
               const Region& out, const RankWriter<E, A>& writer, Worker& worker) {
  const std::int64_t channels = out.pixels.channels, planes = filter.window.planes();
  const std::int64_t elements = (block.cols + filter.window.cols() - 1) * channels;
  std::int64_t looked_at = 0;
  for (std::int64_t row = 0; row < block.rows; ++row) {
    worker.throw_if_stopped();
    for (; looked_at < row * planes + filter.window.lines(); ++looked_at)
      if (has_nan(input, looked_at, elements)) return false;
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
  const auto with = [&](const auto& sorter) {
    return sort_rows(sorter, filter, input, block, out, writer, worker);
  };
  if (is_small_median<3>(filter)) return with(SmallMedian<E, 3>(elements, channels, worker));
  if (is_small_median<5>(filter)) return with(SmallMedian<E, 5>(elements, channels, worker));
  return with(NetworkRow<E>(*filter.network, channels, worker));
}

/// Parts of a block.
template <class A>
void count_columns(const RankFilter& filter, const RankInput<std::uint8_t>& input, std::int64_t part_cols,
                   const Rect& block, const Region& out, const RankWriter<std::uint8_t, A>& writer,
                   Worker& worker) {
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

/// One block, in the way that is fastest for its elements.
template <class E, class A>
void rank_block(const RankFilter& filter, const RankInput<E>& input, const RankLayout& layout,
                const Rect& block, const Region& out, const RankWriter<E, A>& writer, Worker& worker) {
  if (takes_network<E>(filter)) {
    if (sort_by_network(filter, input, block, out, writer, worker)) return;
  } else if constexpr (std::is_same_v<E, std::uint8_t>) {
    if (counts_columns(filter.window))
      return count_columns(filter, input, layout.moving_cols, block, out, writer, worker);
  }
  move_over<E, A>(filter, input, layout, block, out, worker);
}

template <class E, class A>
void order(const RankFilter& filter, const Border& border, std::span<const ConstRegion> planes,
           const Region& out, Worker& worker) {
  const Arena::Scope scope(worker);
  const std::int64_t channels = out.pixels.channels;
  const RankLayout layout(filter.window, out.rect.extent(), channels);
  const RankReader<E> reader(filter, border, planes);
  E* const padded = worker.allocate<E>(layout.padded_rows * layout.padded_pitch);
  const RankWriter<E, A> writer(out, layout.cols * channels + RankTuning::kSlackElements, worker);
  for (std::int64_t row = out.rect.row; row < out.rect.row_end(); row += layout.rows) {
    for (std::int64_t col = out.rect.col, end = col; col < out.rect.col_end(); col = end) {
      end = takes_network<E>(filter) ? reader.block_end(col, layout.cols) : col + layout.cols;
      const Rect block = Rect{row, col, layout.rows, end - col}.intersect(out.rect);
      rank_block(filter, reader.block(block, padded, layout.padded_pitch), layout, block, out, writer,
                 worker);
    }
  }
}

template <class A>
void order_as(const RankFilter& filter, const Border& border, std::span<const ConstRegion> planes,
              const Region& out, Worker& worker) {
  const Arithmetic arithmetic = sizeof(A) == 4 ? Arithmetic::f32 : Arithmetic::f64;
  const PixelType type = own_plane(filter.window, planes).pixels.type;
  visit_pixel_type(rank_elements(type, border, arithmetic), [&]<class E>(std::type_identity<E>) {
    if constexpr (sizeof(E) <= sizeof(A)) order<E, A>(filter, border, planes, out, worker);
  });
}

void rank_f32(const RankFilter& filter, const Border& border, std::span<const ConstRegion> planes,
              const Region& out, Worker& worker) {
  order_as<float>(filter, border, planes, out, worker);
}
void rank_f64(const RankFilter& filter, const Border& border, std::span<const ConstRegion> planes,
              const Region& out, Worker& worker) {
  order_as<double>(filter, border, planes, out, worker);
}

/// The most that any elements take, which are as large as the arithmetic's at most.
template <class A>
std::int64_t scratch_of(const RankFilter& filter, Extent out, std::int64_t channels) {
  const RankLayout layout(filter.window, out, channels);
  const auto bytes = [](std::int64_t count) {
    return Arena::bytes_for(count * static_cast<std::int64_t>(sizeof(A)));
  };
  const std::int64_t row = layout.cols * channels + RankTuning::kSlackElements;
  const std::int64_t pitch = layout.moving_cols * channels;
  const std::int64_t moving = MovingScratch<A>::bytes(layout.moving_area(filter.window), sizeof(A)) +
                              bytes(layout.rows * pitch) + 2 * bytes(pitch);
  std::int64_t network = 0;
  if (filter.network) {
    const auto of = [&]<class E>(E) {
      return (filter.network->slots() - filter.network->rows()) *
             NetworkRow<E>::slot_pitch(*filter.network, channels) * static_cast<std::int64_t>(sizeof(E));
    };
    network =
        Arena::bytes_for(std::max({of(std::uint8_t()), of(std::uint16_t()), of(float()), of(double())})) +
        Arena::bytes_for(filter.network->slots() * static_cast<std::int64_t>(sizeof(void*)));
    network = std::max(network, bytes(SmallMedian<A, 5>::kept_elements(layout.cols * channels, channels)));
  }
  const std::int64_t counts =
      ColumnCounts::bytes(ColumnCounts::row_elements(filter.window, layout.moving_cols, channels));
  return bytes(layout.padded_rows * layout.padded_pitch) + 2 * bytes(row) +
         std::max({moving, network, counts});
}

std::int64_t scratch_f32(const RankFilter& filter, Extent out, std::int64_t channels) {
  return scratch_of<float>(filter, out, channels);
}
std::int64_t scratch_f64(const RankFilter& filter, Extent out, std::int64_t channels) {
  return scratch_of<double>(filter, out, channels);
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
