// A row pass takes kGroup rows at once: they are transposed so that neighbours in memory are the same place
// of different rows, and each pixel of the result is a sum of whole vectors. Means of pairs, which pyramids
// are made of, are taken of rows as they lie. The column pass adds rows.
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

/// sums[i] = fma(weights[j], rows[j][i], sums[i]) for j ascending; whole vectors of all. Sums are aligned.
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

/// The sum of `count` columns of kGroup rows, `step` elements apart.
template <class A>
void add_columns(const A* columns, std::int64_t step, const A* weights, std::int64_t count, A* to) {
  const hn::ScalableTag<A> d;
  constexpr auto kLanes = static_cast<std::int64_t>(hn::MaxLanes(d));
  constexpr std::int64_t kVectors = kGroup / kLanes;
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
        held_(resample_held(resampling, out.rect)),
        in_(in.crop(held_).pixels),
        out_(out.pixels),
        worker_(worker),
        sizes_(resampling, out.rect.extent(), std::max(needed_.cols, held_.cols), out.pixels.channels,
               sizeof(A)),
        raw_(worker.allocate<double>(sizes_.raw_weights)),
        down_(resampling.down, out.rect.row, out.rect.rows, raw_, worker),
        across_(resampling.across, out.rect.col, out.rect.cols, raw_, worker),
        group_(worker.allocate<A>(kGroup * sizes_.in_pitch)),
        columns_in_(worker.allocate<A>(kGroup * sizes_.in_pitch)),
        columns_out_(worker.allocate<A>(kGroup * sizes_.out_pitch)),
        ring_(worker.allocate<A>(sizes_.ring_rows * sizes_.out_pitch)),
        line_(worker.allocate<A>(sizes_.line_elements)),
        load_(load_row_for<A>(in.pixels.type)),
        store_(store_row_for<A>(out.pixels.type)) {}

  void rows_first() {
    std::int64_t ready = needed_.row;  // rows before this one have been in the ring
    for (std::int64_t row = 0; row < out_.extent.rows; ++row) {
      const ResampleWindow window = down_.windows[row];
      for (; ready < window.first + window.count; ready += kGroup) {
        worker_.throw_if_stopped();
        const std::int64_t rows = std::min(kGroup, needed_.row_end() - ready);
        for (std::int64_t i = 0; i < rows; ++i)
          load(ready + i, 0, in_.row_elements(), group_ + i * sizes_.in_pitch);
        row_pass(group_, rows, ring_row(ready));
      }
      column_pass(row, sizes_.out_pitch, line_,
                  [&](std::int64_t input, std::int64_t) { return ring_row(input); });
      store_(line_, out_.row_elements(), out_.row_data(row));
    }
  }

  void columns_first() {
    for (std::int64_t row = 0; row < out_.extent.rows; row += kGroup) {
      const std::int64_t rows = std::min(kGroup, out_.extent.rows - row);
      const std::int64_t elements = in_.row_elements();
      for (std::int64_t first = 0; first < elements; first += kColumnBlock) {
        worker_.throw_if_stopped();
        for (std::int64_t i = 0; i < rows; ++i)
          column_pass(row + i, std::min(kColumnBlock, elements - first), group_ + i * sizes_.in_pitch + first,
                      [&](std::int64_t input, std::int64_t k) {
                        return part_of(input, first, std::min(kColumnBlock, elements - first),
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

  /// Where this many elements of a row lie in the arithmetic type, whole vectors of them: in the input, or
  /// their copy in `place`. Beyond the input a row is what the border says.
  const A* part_of(std::int64_t input, std::int64_t first, std::int64_t count, A* place) const {
    const auto& border = resampling_.border;
    if (border) input = border_index(input, resampling_.down.from, border->mode);
    const bool is_as_it_is =
        in_.type == pixel_type_of<A>() && resampling_.read.kind == PointwiseOp::Kind::copy;
    if (input < 0) {
      std::fill_n(place, count, static_cast<A>(border->value));
    } else if (is_as_it_is &&
               input + 1 < held_.row + in_.extent.rows) {  // behind the last there may be no memory
      return in_.template row<A>(input - held_.row) + first;
    } else {
      load(input, first, count, place);
    }
    return place;
  }

  void load(std::int64_t input, std::int64_t first, std::int64_t count, A* to) const {
    load_(in_.row_data(input - held_.row) + first * size_of(in_.type), count, to);
    if (resampling_.read.kind == PointwiseOp::Kind::copy) return;
    const PixelView part = view_of(to, {1, count});
    pointwise_host(resampling_.read, part, part, part,
                   sizeof(A) == sizeof(double) ? Arithmetic::f64 : Arithmetic::f32);
  }

  /// Makes of what the input has of a row all that is needed, with what the border says.
  void extend(A* row) const {
    const std::int64_t channels = in_.channels;
    A* const held = columns_in_;  // which nothing is in yet
    std::memcpy(held, row, static_cast<std::size_t>(in_.row_elements() * kBytes));
    const std::int64_t first = std::clamp(held_.col, needed_.col, needed_.col_end());
    const std::int64_t end = std::clamp(held_.col_end(), first, needed_.col_end());
    std::memcpy(row + (first - needed_.col) * channels, held + (first - held_.col) * channels,
                static_cast<std::size_t>((end - first) * channels * kBytes));
    const auto put = [&](std::int64_t col) {
      const std::int64_t from = border_index(col, resampling_.across.from, resampling_.border->mode);
      for (std::int64_t channel = 0; channel < channels; ++channel)
        row[(col - needed_.col) * channels + channel] = from < 0
                                                            ? static_cast<A>(resampling_.border->value)
                                                            : held[(from - held_.col) * channels + channel];
    };
    for (std::int64_t col = needed_.col; col < first; ++col) put(col);
    for (std::int64_t col = end; col < needed_.col_end(); ++col) put(col);
  }

  /// For at most kGroup rows; memory is there for all of them.
  void row_pass(const A* from, std::int64_t rows, A* to) {
    if (resampling_.across.kept())
      return void(std::memcpy(to, from, static_cast<std::size_t>(kGroup * sizes_.out_pitch * kBytes)));
    const ResampleAxis& across = resampling_.across;
    if (across.filter == ResampleFilter::box && across.scale == 2 && in_.channels <= 4) {
      for (std::int64_t i = 0; i < rows; ++i)
        pair_row(from + i * sizes_.in_pitch, needed_.cols, in_.channels, to + i * sizes_.out_pitch);
    } else {
      transposed_row_pass(from, to);
    }
  }

  /// For kGroup rows, some of which may be there for nothing.
  void transposed_row_pass(const A* from, A* to) {
    const std::int64_t channels = in_.channels;
    transpose_host({1, kGroup, needed_.cols * channels, kBytes},
                   {reinterpret_cast<const std::byte*>(from), sizes_.in_pitch * kBytes, 0},
                   {reinterpret_cast<std::byte*>(columns_in_), kGroup * kBytes, 0});
    for (std::int64_t col = 0; col < out_.extent.cols; ++col) {
      const auto [first, count] = across_.windows[col];
      const A* const columns = columns_in_ + (first - needed_.col) * channels * kGroup;
      for (std::int64_t channel = 0; channel < channels; ++channel)
        add_columns(columns + channel * kGroup, channels * kGroup, across_.weights + col * across_.taps,
                    count, columns_out_ + (col * channels + channel) * kGroup);
    }
    transpose_host({1, out_.row_elements(), kGroup, kBytes},
                   {reinterpret_cast<const std::byte*>(columns_out_), kGroup * kBytes, 0},
                   {reinterpret_cast<std::byte*>(to), sizes_.out_pitch * kBytes, 0});
  }

  /// input_row(row of the input, its place among kAdded): where it lies.
  template <class InputRow>
  void column_pass(std::int64_t row, std::int64_t elements, A* sums, const InputRow& input_row) {
    const auto [first, count] = down_.windows[row];
    const auto bytes = static_cast<std::size_t>(elements * kBytes);
    if (resampling_.down.kept()) return void(std::memcpy(sums, input_row(first, 0), bytes));
    std::memset(sums, 0, bytes);
    const A* const weights = down_.weights + row * down_.taps;
    const A* rows[kAdded];
    std::int64_t k = 0;
    for (; k + kAdded <= count; k += kAdded) {
      for (std::int64_t j = 0; j < kAdded; ++j) rows[j] = input_row(first + k + j, j);
      add_rows<kAdded>(rows, weights + k, elements, sums);
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
  Rect needed_, held_;  ///< with what a border says, and what the input has of it
  ConstPixelView in_;
  PixelView out_;
  Worker& worker_;
  ResampleSizes sizes_;
  double* raw_;
  ResampleTable<A> down_, across_;
  A* group_;        ///< rows before the row pass
  A* columns_in_;   ///< the same, transposed
  A* columns_out_;  ///< the row pass of it
  A* ring_;         ///< rows after the row pass; of columns first a group of them
  A* line_;         ///< a row after the column pass; of columns first the rows that it adds
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

/// Means of 2 x 2 integers, stored as such.
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
         (2 * kGroup * sizes.in_pitch + (kGroup + sizes.ring_rows) * sizes.out_pitch + sizes.line_elements) *
             bytes;
}

}  // namespace sepconv
#endif
