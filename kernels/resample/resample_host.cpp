// A row pass processes kGroupRows rows together: they are transposed so that adjacent elements in memory
// belong to different rows, and each pixel of the result is a sum of whole vectors. Means of pairs, for
// pyramids, are computed without transposing. The column pass adds rows.
#include "kernels/resample/resample_sizes.hpp"
#include "kernels/simd/dispatch.hpp"
#include "kernels/transpose/transpose.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/resample/resample_host.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/resample/average_2x2-inl.h"
#include "kernels/resample/average_pairs-inl.h"
#include "kernels/simd/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {

/// sums[i] = fma(weights[j], rows[j][i], sums[i]) for j ascending, in whole vectors. `sums` is aligned.
template <int kRows, class A>
void add_rows(const A* const* rows, const A* weights, std::int64_t elements, A* sums) {
  const hn::ScalableTag<A> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t i = 0; i < elements; i += lanes) {
    auto sum = hn::Load(d, sums + i);
    SEPCONV_UNROLL
    for (int j = 0; j < kRows; ++j)
      sum = fused_multiply_add(hn::Set(d, weights[j]), hn::LoadU(d, rows[j] + i), sum);
    hn::Store(sum, d, sums + i);
  }
}

/// The weighted sum of `count` columns of kGroupRows rows, `step` elements apart.
template <class A>
void add_columns(const A* columns, std::int64_t step, const A* weights, std::int64_t count, A* to) {
  const hn::ScalableTag<A> d;
  constexpr auto kLanes = static_cast<std::int64_t>(hn::MaxLanes(d));
  constexpr std::int64_t kVectors = kGroupRows / kLanes;
  hn::Vec<decltype(d)> sums[kVectors];
  SEPCONV_UNROLL
  for (auto& sum : sums) sum = hn::Zero(d);
  for (std::int64_t k = 0; k < count; ++k, columns += step) {
    const auto weight = hn::Set(d, weights[k]);
    SEPCONV_UNROLL
    for (std::int64_t v = 0; v < kVectors; ++v)
      sums[v] = fused_multiply_add(weight, hn::Load(d, columns + v * kLanes), sums[v]);
  }
  SEPCONV_UNROLL
  for (std::int64_t v = 0; v < kVectors; ++v) hn::Store(sums[v], d, to + v * kLanes);
}

template <class A>
class Resampler {
 public:
  Resampler(const Resampling& resampling, const ConstRegion& in, const Region& out, Worker& worker)
      : resampling_(resampling),
        needed_(resample_input(resampling, out.rect)),
        available_(resample_source_rect(resampling, out.rect)),
        in_(in.crop(available_).pixels),
        out_(out.pixels),
        worker_(worker),
        sizes_(resampling, out.rect.extent(), std::max(needed_.cols, available_.cols), out.pixels.channels,
               sizeof(A)),
        raw_weights_(worker.allocate<double>(sizes_.raw_weights)),
        down_(resampling.down, out.rect.row, out.rect.rows, raw_weights_, worker),
        across_(resampling.across, out.rect.col, out.rect.cols, raw_weights_, worker),
        group_(worker.allocate<A>(kGroupRows * sizes_.in_pitch)),
        columns_in_(worker.allocate<A>(kGroupRows * sizes_.in_pitch)),
        columns_out_(worker.allocate<A>(kGroupRows * sizes_.out_pitch)),
        ring_(worker.allocate<A>(sizes_.ring_rows * sizes_.out_pitch)),
        line_(worker.allocate<A>(sizes_.line_elements)),
        load_(load_row_for<A>(in.pixels.type)),
        store_(store_row_for<A>(out.pixels.type)) {}

  void rows_first() {
    std::int64_t next_row = needed_.row;  // the first row that is not yet in the ring
    for (std::int64_t row = 0; row < out_.extent.rows; ++row) {
      const ResampleWindow window = down_.windows[row];
      for (; next_row < window.first + window.count; next_row += kGroupRows) {
        worker_.throw_if_stopped();
        const std::int64_t rows = std::min(kGroupRows, needed_.row_end() - next_row);
        for (std::int64_t i = 0; i < rows; ++i)
          load(next_row + i, 0, in_.row_elements(), group_ + i * sizes_.in_pitch);
        row_pass(group_, rows, ring_row(next_row));
      }
      column_pass(row, sizes_.out_pitch, line_,
                  [&](std::int64_t input, std::int64_t) { return ring_row(input); });
      store_(line_, out_.row_elements(), out_.row_data(row));
    }
  }

  void columns_first() {
    for (std::int64_t row = 0; row < out_.extent.rows; row += kGroupRows) {
      const std::int64_t rows = std::min(kGroupRows, out_.extent.rows - row);
      const std::int64_t elements = in_.row_elements();
      for (std::int64_t first = 0; first < elements; first += kColumnBlock) {
        worker_.throw_if_stopped();
        for (std::int64_t i = 0; i < rows; ++i)
          column_pass(row + i, std::min(kColumnBlock, elements - first), group_ + i * sizes_.in_pitch + first,
                      [&](std::int64_t input, std::int64_t k) {
                        return row_part(input, first, std::min(kColumnBlock, elements - first),
                                        line_ + k * kColumnBlock);
                      });
      }
      if (resampling_.border)
        for (std::int64_t i = 0; i < rows; ++i) extend(group_ + i * sizes_.in_pitch);
      row_pass(group_, rows, ring_);
      for (std::int64_t i = 0; i < rows; ++i)
        store_(ring_ + i * sizes_.out_pitch, out_.row_elements(), out_.row_data(row + i));
    }
  }

 private:
  static constexpr auto kBytes = static_cast<std::int64_t>(sizeof(A));

  A* ring_row(std::int64_t input) const {
    return ring_ + (input - needed_.row) % sizes_.ring_rows * sizes_.out_pitch;
  }

  /// Returns `count` elements of a row in the arithmetic type, readable in whole vectors: in the input itself
  /// or copied to `copy`. Rows beyond the input come from the border.
  const A* row_part(std::int64_t input, std::int64_t first, std::int64_t count, A* copy) const {
    const auto& border = resampling_.border;
    if (border) input = border_index(input, resampling_.down.from, border->mode);
    const bool reads_directly =
        in_.type == pixel_type_of<A>() && resampling_.read.kind == PointwiseOp::Kind::copy;
    if (input < 0) {
      std::fill_n(copy, count, static_cast<A>(border->value));
    } else if (reads_directly &&
               input + 1 < available_.row + in_.extent.rows) {  // after the last row memory may end
      return in_.template row<A>(input - available_.row) + first;
    } else {
      load(input, first, count, copy);
    }
    return copy;
  }

  void load(std::int64_t input, std::int64_t first, std::int64_t count, A* to) const {
    load_(in_.row_data(input - available_.row) + first * size_of(in_.type), count, to);
    if (resampling_.read.kind == PointwiseOp::Kind::copy) return;
    const PixelView part = view_of(to, {1, count});
    pointwise_host(resampling_.read, part, part, part,
                   sizeof(A) == sizeof(double) ? Arithmetic::f64 : Arithmetic::f32);
  }

  /// Extends a row from the input's columns to the needed columns by the border.
  void extend(A* row) const {
    const std::int64_t channels = in_.channels;
    A* const available_row = columns_in_;  // unused so far
    std::memcpy(available_row, row, static_cast<std::size_t>(in_.row_elements() * kBytes));
    const std::int64_t first = std::clamp(available_.col, needed_.col, needed_.col_end());
    const std::int64_t end = std::clamp(available_.col_end(), first, needed_.col_end());
    std::memcpy(row + (first - needed_.col) * channels, available_row + (first - available_.col) * channels,
                static_cast<std::size_t>((end - first) * channels * kBytes));
    const auto fill_column = [&](std::int64_t col) {
      const std::int64_t from = border_index(col, resampling_.across.from, resampling_.border->mode);
      for (std::int64_t channel = 0; channel < channels; ++channel)
        row[(col - needed_.col) * channels + channel] =
            from < 0 ? static_cast<A>(resampling_.border->value)
                     : available_row[(from - available_.col) * channels + channel];
    };
    for (std::int64_t col = needed_.col; col < first; ++col) fill_column(col);
    for (std::int64_t col = end; col < needed_.col_end(); ++col) fill_column(col);
  }

  /// Filters at most kGroupRows rows; memory exists for kGroupRows.
  void row_pass(const A* from, std::int64_t rows, A* to) {
    if (resampling_.across.is_identity())
      return void(std::memcpy(to, from, static_cast<std::size_t>(kGroupRows * sizes_.out_pitch * kBytes)));
    const ResampleAxis& across = resampling_.across;
    if (across.filter == ResampleFilter::box && across.scale == 2 && in_.channels <= 4) {
      for (std::int64_t i = 0; i < rows; ++i)
        pair_row(from + i * sizes_.in_pitch, needed_.cols, in_.channels, to + i * sizes_.out_pitch);
    } else {
      transposed_row_pass(from, to);
    }
  }

  /// Filters kGroupRows rows, some of which may be unused.
  void transposed_row_pass(const A* from, A* to) {
    const std::int64_t channels = in_.channels;
    transpose_host({1, kGroupRows, needed_.cols * channels, kBytes},
                   {reinterpret_cast<const std::byte*>(from), sizes_.in_pitch * kBytes, 0},
                   {reinterpret_cast<std::byte*>(columns_in_), kGroupRows * kBytes, 0});
    for (std::int64_t col = 0; col < out_.extent.cols; ++col) {
      const auto [first, count] = across_.windows[col];
      const A* const columns = columns_in_ + (first - needed_.col) * channels * kGroupRows;
      for (std::int64_t channel = 0; channel < channels; ++channel)
        add_columns(columns + channel * kGroupRows, channels * kGroupRows,
                    across_.weights + col * across_.taps, count,
                    columns_out_ + (col * channels + channel) * kGroupRows);
    }
    transpose_host({1, out_.row_elements(), kGroupRows, kBytes},
                   {reinterpret_cast<const std::byte*>(columns_out_), kGroupRows * kBytes, 0},
                   {reinterpret_cast<std::byte*>(to), sizes_.out_pitch * kBytes, 0});
  }

  /// input_row(row of the input, index below kAddedRows) returns the row's elements.
  template <class InputRow>
  void column_pass(std::int64_t row, std::int64_t elements, A* sums, const InputRow& input_row) {
    const auto [first, count] = down_.windows[row];
    const auto bytes = static_cast<std::size_t>(elements * kBytes);
    if (resampling_.down.is_identity()) return void(std::memcpy(sums, input_row(first, 0), bytes));
    std::memset(sums, 0, bytes);
    const A* const weights = down_.weights + row * down_.taps;
    const A* rows[kAddedRows];
    std::int64_t k = 0;
    for (; k + kAddedRows <= count; k += kAddedRows) {
      for (std::int64_t j = 0; j < kAddedRows; ++j) rows[j] = input_row(first + k + j, j);
      add_rows<kAddedRows>(rows, weights + k, elements, sums);
    }
    for (; k + 4 <= count; k += 4) {
      for (std::int64_t j = 0; j < 4; ++j) rows[j] = input_row(first + k + j, j);
      add_rows<4>(rows, weights + k, elements, sums);
    }
    for (; k + 2 <= count; k += 2) {
      for (std::int64_t j = 0; j < 2; ++j) rows[j] = input_row(first + k + j, j);
      add_rows<2>(rows, weights + k, elements, sums);
    }
    if (k == count) return;
    rows[0] = input_row(first + k, 0);
    add_rows<1>(rows, weights + k, elements, sums);
  }

  const Resampling& resampling_;
  Rect needed_, available_;  ///< input including the border, and the part in the image
  ConstPixelView in_;
  PixelView out_;
  Worker& worker_;
  ResampleSizes sizes_;
  double* raw_weights_;
  ResampleTable<A> down_, across_;
  A* group_;        ///< rows before the row pass
  A* columns_in_;   ///< the same, transposed
  A* columns_out_;  ///< the row pass's result, transposed
  A* ring_;         ///< rows after the row pass; with columns_first a group of them
  A* line_;         ///< a row after the column pass; with columns_first its input rows
  LoadRow<A> load_;
  StoreRow<A> store_;
};

template <class A>
void resample(const Resampling& resampling, const ConstRegion& in, const Region& out, Worker& worker) {
  const Arena::Scope scope(worker);
  Resampler<A> resampler(resampling, in, out, worker);
  resampling.columns_first ? resampler.columns_first() : resampler.rows_first();
}

void resample_f32(const Resampling& resampling, const ConstRegion& in, const Region& out, Worker& worker) {
  resample<float>(resampling, in, out, worker);
}
void resample_f64(const Resampling& resampling, const ConstRegion& in, const Region& out, Worker& worker) {
  resample<double>(resampling, in, out, worker);
}

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sepconv {

HWY_EXPORT(halve_integers);
HWY_EXPORT(resample_f32);
HWY_EXPORT(resample_f64);

namespace {

/// Whether the result is means of 2 x 2 integers in the same type.
bool halves_integers(const Resampling& resampling, PixelType from, PixelType to) {
  const auto is_halved = [](const ResampleAxis& axis) {
    return axis.filter == ResampleFilter::box && axis.scale == 2;
  };
  return is_halved(resampling.down) && is_halved(resampling.across) && from == to && !is_floating(to) &&
         resampling.read.kind == PointwiseOp::Kind::copy;
}

}  // namespace

void resample_host(const Resampling& resampling, const ConstRegion& in, const Region& out,
                   Arithmetic arithmetic, Worker& worker) {
  check_resampling(resampling, in, out);
  if (out.rect.empty()) return;
  if (halves_integers(resampling, in.pixels.type, out.pixels.type)) {
    HWY_DYNAMIC_DISPATCH(halve_integers)(in, out, worker);
  } else if (arithmetic == Arithmetic::f64) {
    HWY_DYNAMIC_DISPATCH(resample_f64)(resampling, in, out, worker);
  } else {
    HWY_DYNAMIC_DISPATCH(resample_f32)(resampling, in, out, worker);
  }
}

std::int64_t resample_scratch_bytes(const Resampling& resampling, Extent out, std::int64_t channels,
                                    Arithmetic arithmetic) {
  const std::int64_t bytes = size_of(pixel_type_of(arithmetic));
  const ResampleSizes sizes(resampling, out, resample_max_pixels(resampling.across, out.cols), channels,
                            bytes);
  const auto window_bytes = static_cast<std::int64_t>(sizeof(ResampleWindow));
  return Arena::bytes_for(sizes.raw_weights * static_cast<std::int64_t>(sizeof(double))) +
         Arena::bytes_for(out.rows * window_bytes) + Arena::bytes_for(out.cols * window_bytes) +
         Arena::bytes_for(sizes.row_weights * bytes) + Arena::bytes_for(sizes.col_weights * bytes) +
         (2 * kGroupRows * sizes.in_pitch + (kGroupRows + sizes.ring_rows) * sizes.out_pitch +
          sizes.line_elements) *
             bytes;
}

}  // namespace sepconv
#endif
