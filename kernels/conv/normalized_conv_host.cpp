#include <cmath>

#include "kernels/conv/conv_check.hpp"
#include "kernels/conv/normalized_conv.hpp"
#include "kernels/conv/strips.hpp"
#include "kernels/pointwise/missing.hpp"
#include "kernels/simd/dispatch.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/conv/normalized_conv_host.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/conv/normalized_conv-inl.h"

#ifndef SEPCONV_CONV_PRESENT_LAYOUT
#define SEPCONV_CONV_PRESENT_LAYOUT
namespace sepconv {

/// Divides a row into at most 64 blocks; a bit marks each block with a missing pixel under its taps.
struct MissingBlocks {
  std::int64_t size = 0;  ///< elements of a block, whole vectors

  explicit MissingBlocks(std::int64_t elements)
      : size(std::max<std::int64_t>(128, round_up(ceil_div(elements, 64), ConvTuning::kSlackElements))) {}

  static bool has(std::uint64_t bits, std::int64_t block) { return (bits >> block & 1) != 0; }

  /// Calls run(has_missing, first, last) for each run of elements whose blocks have the same bit.
  template <class Run>
  void for_each_run(std::uint64_t bits, std::int64_t elements, const Run& run) const {
    for (std::int64_t first = 0; first < elements;) {
      const bool has_missing = has(bits, first / size);
      std::int64_t last = first;
      while (last < elements && has(bits, last / size) == has_missing) last += size;
      run(has_missing, first, std::min(last, elements));
      first = last;
    }
  }
};

}  // namespace sepconv
#endif

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {

/// Scratch of a strip, including that of convolve_host.
template <class A>
struct NormalizedScratch {
  StripScratch<A> values;
  Ring<A> weights;
  Ring<std::uint8_t> bits;
  std::uint64_t* missing_blocks;  ///< bits of MissingBlocks for each row of the rings
  A* padded;
  A* padded_weights;
  A* full_weights;                ///< filtered weights of a row without missing pixels
  std::uint8_t* no_missing_bits;  ///< missing bits of such a row
  A* one_missing_weights;         ///< filtered weights around a single missing pixel
  const A** window_weights;
  const A** shifted;
  const std::uint8_t** window_bits;
};

template <class A>
class NormalizedStrip {
 public:
  NormalizedStrip(Taps<A> row_taps, Taps<A> col_taps, const Border& border, const NormalizedMissing& missing,
                  const ConstRegion& in, const Region& out, const NormalizedScratch<A>& scratch)
      : row_taps_(row_taps),
        col_taps_(col_taps),
        border_(border),
        missing_(missing),
        in_(in),
        out_(out),
        scratch_(scratch),
        rows_(row_taps, border, in, out.rect.col, out.rect.cols, scratch.padded),
        columns_(out.rect.col, out.rect.cols, row_taps.count / 2, in.image.cols),
        channels_(in.pixels.channels),
        elements_(out.rect.cols * channels_),
        blocks_(elements_),
        value_(missing.value.value_or(std::numeric_limits<double>::quiet_NaN())),
        load_(load_row_for<A>(in.pixels.type)),
        any_missing_(visit_pixel_type(
            in.pixels.type, []<class T>(std::type_identity<T>) -> AnyMissing { return any_missing<T>; })),
        column_pass_(column_pass_for<A>(out.pixels.type,
                                        !missing.store && stores_past_caches(out, pixel_type_of<A>()))),
        normalized_pass_(visit_pixel_type(
            out.pixels.type,
            []<class T>(std::type_identity<T>) -> NormalizedPass<A> { return normalized_pass<A, T>; })) {
    A full_weight = 0;
    for (std::int64_t k = 0; k < row_taps.count; ++k)
      full_weight = std::fma(row_taps.data[k], A(1), full_weight);
    std::fill_n(scratch.full_weights, elements_ + ConvTuning::kSlackElements, full_weight);
    for (std::int64_t i = 0; i < row_taps.count; ++i) {
      A sum = 0;
      for (std::int64_t k = 0; k < row_taps.count; ++k)
        sum = std::fma(row_taps.data[k], A(i + k == row_taps.count - 1 ? 0 : 1), sum);
      scratch.one_missing_weights[i] = sum;
    }
    epilogue_.total = 0;
    for (std::int64_t k = 0; k < col_taps.count; ++k)
      epilogue_.total = std::fma(col_taps.data[k], full_weight, epilogue_.total);
    std::fill_n(scratch.no_missing_bits, scratch.bits.pitch, std::uint8_t{0});
    if (missing.store) {
      epilogue_.has_store = true;
      epilogue_.missing_value = static_cast<A>(missing.store->p);
      epilogue_.replacement = static_cast<A>(missing.store->q);
    }
  }

  void run(const Worker& worker) const {
    const std::int64_t radius = col_taps_.count / 2, block_rows = ConvTuning::kRowsPerBlock;
    if (border_.mode == BorderMode::constant) rows_.filter_constant(scratch_.values.constant_row);
    std::int64_t next_row = std::max<std::int64_t>(out_.rect.row - radius, 0);
    for (std::int64_t row = out_.rect.row; row < out_.rect.row_end(); row += block_rows) {
      const std::int64_t height = std::min(block_rows, out_.rect.row_end() - row);
      const std::int64_t needed_end = std::min(row + height + radius, out_.image.rows);
      for (; next_row < needed_end; ++next_row) {
        worker.throw_if_stopped();
        filter_row(next_row);
      }
      worker.throw_if_stopped();
      filter_columns(row, height);
    }
  }

 private:
  void filter_row(std::int64_t row) const {
    const std::int64_t at = scratch_.weights.index(row);
    A* const to = scratch_.values.ring.at(row);
    const std::byte* const from = rows_.inside_pixels(row);
    const std::int64_t inside = columns_.inside() * channels_, before = columns_.before() * channels_;
    scratch_.missing_blocks[at] = 0;
    if (!any_missing_(from, inside, value_)) return rows_.filter(row, to);
    load_(from, inside, scratch_.padded + before);
    split_missing(scratch_.padded + before, scratch_.padded_weights + before, inside, static_cast<A>(value_));
    extend_row(scratch_.padded, columns_, in_.image.cols, border_.mode, channels_,
               static_cast<A>(border_.value));
    extend_row(scratch_.padded_weights, columns_, in_.image.cols, border_.mode, channels_, A(1));
    row_pass(row_taps_, channels_, scratch_.padded, elements_, to, rows_.row_prefetch(row));
    scratch_.missing_blocks[at] = filter_weights(scratch_.weights.at(row));
    if (!missing_.fills)
      missing_bits(scratch_.padded_weights + row_taps_.count / 2 * channels_, elements_,
                   scratch_.bits.at(row));
  }

  /// Filters a row of weights into `to`. Returns the blocks with a missing pixel under their taps.
  std::uint64_t filter_weights(A* to) const {
    const A* const from = scratch_.padded_weights;
    const std::int64_t halo = (row_taps_.count - 1) * channels_;
    std::copy_n(scratch_.full_weights, elements_, to);
    std::uint64_t missing_blocks = 0;
    for_each_group(from, elements_ + halo, halo, [&](std::int64_t first_missing, std::int64_t last_missing) {
      const std::int64_t first = std::max<std::int64_t>(first_missing - halo, 0),
                         last = std::min(last_missing + 1, elements_);
      if (first_missing == last_missing && channels_ == 1) {
        std::copy_n(scratch_.one_missing_weights + (first - (first_missing - halo)), last - first,
                    to + first);
      } else {
        row_pass(row_taps_, channels_, from + first, last - first, to + first);
      }
      for (std::int64_t block = first / blocks_.size; block <= (last - 1) / blocks_.size; ++block)
        missing_blocks |= std::uint64_t{1} << block;
    });
    return missing_blocks;
  }

  void filter_columns(std::int64_t row, std::int64_t height) const {
    const std::int64_t radius = col_taps_.count / 2;
    std::uint64_t missing_blocks = 0;
    for (std::int64_t j = 0; j < height + 2 * radius; ++j) {
      const std::int64_t image_row = border_index(row - radius + j, out_.image.rows, border_.mode);
      const std::uint64_t row_blocks =
          image_row < 0 ? 0 : scratch_.missing_blocks[scratch_.weights.index(image_row)];
      missing_blocks |= row_blocks;
      scratch_.values.window[j] =
          image_row < 0 ? scratch_.values.constant_row : scratch_.values.ring.at(image_row);
      scratch_.window_weights[j] = row_blocks == 0 ? scratch_.full_weights : scratch_.weights.at(image_row);
    }
    for (std::int64_t r = 0; r < height; ++r) {
      const bool has_missing =
          !missing_.fills && scratch_.missing_blocks[scratch_.weights.index(row + r)] != 0;
      scratch_.window_bits[r] = has_missing ? scratch_.bits.at(row + r) : scratch_.no_missing_bits;
    }
    const PixelView out = out_.pixels.crop({row - out_.rect.row, 0, height, out_.rect.cols});
    blocks_.for_each_run(
        missing_blocks, elements_, [&](bool has_missing, std::int64_t first, std::int64_t last) {
          if (!has_missing) return filter_plain(out, first, last);
          normalized_pass_(col_taps_, epilogue_,
                           {scratch_.values.window, scratch_.window_weights, scratch_.window_bits}, height,
                           first, last, out.data, out.pitch_bytes);
        });
  }

  void filter_plain(const PixelView& out, std::int64_t first, std::int64_t last) const {
    const std::int64_t rows = out.extent.rows + col_taps_.count - 1;
    const A** const window = first == 0 ? scratch_.values.window : scratch_.shifted;
    if (first != 0)
      std::transform(scratch_.values.window, scratch_.values.window + rows, window,
                     [=](const A* from) { return from + first; });
    const PixelView part{
        out.data + first * size_of(out.type), {out.extent.rows, last - first}, 1, out.type, out.pitch_bytes};
    column_pass_(col_taps_, window, out.extent.rows, last - first, part.data, out.pitch_bytes);
    if (missing_.store && find_missing_state(part, missing_.store->p) != MissingState::none_missing)
      pointwise_host(*missing_.store, part, part, part, arithmetic_of());
  }

  static Arithmetic arithmetic_of() { return sizeof(A) == 8 ? Arithmetic::f64 : Arithmetic::f32; }

  Taps<A> row_taps_, col_taps_;
  Border border_;
  const NormalizedMissing& missing_;
  ConstRegion in_;
  Region out_;
  const NormalizedScratch<A>& scratch_;
  RowFilter<A> rows_;
  PaddedColumns columns_;
  std::int64_t channels_, elements_;
  MissingBlocks blocks_;
  double value_;
  LoadRow<A> load_;
  AnyMissing any_missing_;
  ColumnPass<A> column_pass_;
  NormalizedPass<A> normalized_pass_;
  NormalizedEpilogue<A> epilogue_;
};

template <class A>
Taps<A> to_arithmetic_taps(const std::vector<double>& taps, Worker& worker) {
  A* const to = worker.allocate<A>(static_cast<std::int64_t>(taps.size()));
  std::transform(taps.begin(), taps.end(), to, [](double tap) { return static_cast<A>(tap); });
  return {to, static_cast<std::int64_t>(taps.size())};
}

template <class A>
void normalized_conv(const SeparableTaps& taps, const Border& border, const NormalizedMissing& missing,
                     const ConstRegion& in, const Region& out, Worker& worker) {
  const Arena::Scope scope(worker);
  const StripLayout layout(taps, out.rect.extent(), out.image, in.pixels.channels, sizeof(A));
  const Taps<A> row_taps = to_arithmetic_taps<A>(taps.row, worker),
                col_taps = to_arithmetic_taps<A>(taps.col, worker);
  const auto ring = [&]<class E>(std::type_identity<E>) {
    return Ring<E>{worker.allocate<E>(layout.ring_rows * layout.ring_pitch), layout.ring_rows,
                   layout.ring_pitch};
  };
  NormalizedScratch<A> scratch;
  scratch.values.ring = ring(std::type_identity<A>());
  scratch.weights = ring(std::type_identity<A>());
  scratch.bits = ring(std::type_identity<std::uint8_t>());
  scratch.missing_blocks = worker.allocate<std::uint64_t>(layout.ring_rows);
  scratch.padded = worker.allocate<A>(layout.padded_elements);
  scratch.padded_weights = worker.allocate<A>(layout.padded_elements);
  scratch.values.constant_row = worker.allocate<A>(layout.ring_pitch);
  scratch.full_weights = worker.allocate<A>(layout.ring_pitch);
  scratch.no_missing_bits = worker.allocate<std::uint8_t>(layout.ring_pitch);
  scratch.one_missing_weights = worker.allocate<A>(row_taps.count);
  scratch.values.window = worker.allocate<const A*>(layout.window_rows);
  scratch.window_weights = worker.allocate<const A*>(layout.window_rows);
  scratch.shifted = worker.allocate<const A*>(layout.window_rows);
  scratch.window_bits = worker.allocate<const std::uint8_t*>(layout.window_rows);
  for (std::int64_t col = out.rect.col; col < out.rect.col_end(); col += layout.strip_cols) {
    const std::int64_t cols = std::min(layout.strip_cols, out.rect.col_end() - col);
    NormalizedStrip<A>(row_taps, col_taps, border, missing, in,
                       out.crop({out.rect.row, col, out.rect.rows, cols}), scratch)
        .run(worker);
  }
  hwy::FlushStream();
}

void normalized_conv_f32(const SeparableTaps& taps, const Border& border, const NormalizedMissing& missing,
                         const ConstRegion& in, const Region& out, Worker& worker) {
  normalized_conv<float>(taps, border, missing, in, out, worker);
}
void normalized_conv_f64(const SeparableTaps& taps, const Border& border, const NormalizedMissing& missing,
                         const ConstRegion& in, const Region& out, Worker& worker) {
  normalized_conv<double>(taps, border, missing, in, out, worker);
}

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sepconv {

HWY_EXPORT(normalized_conv_f32);
HWY_EXPORT(normalized_conv_f64);

bool supports_normalized_conv(const SeparableTaps& taps) {
  return !taps.columns_first && !taps.row.empty() && !taps.col.empty();
}

void normalized_conv_host(const SeparableTaps& taps, const Border& border, const NormalizedMissing& missing,
                          const ConstRegion& in, const Region& out, Arithmetic arithmetic, Worker& worker) {
  check_convolution(taps, in, out);
  check_wrapped(taps, border, out);
  if (out.rect.empty()) return;
  if (arithmetic == Arithmetic::f64) {
    HWY_DYNAMIC_DISPATCH(normalized_conv_f64)(taps, border, missing, in, out, worker);
  } else {
    HWY_DYNAMIC_DISPATCH(normalized_conv_f32)(taps, border, missing, in, out, worker);
  }
}

std::int64_t normalized_conv_scratch_bytes(const SeparableTaps& taps, Extent out, std::int64_t channels,
                                           Arithmetic arithmetic, Extent image) {
  if (out.empty()) return 0;
  const std::int64_t size = size_of(pixel_type_of(arithmetic)), word = sizeof(std::uint64_t);
  const StripLayout layout(taps, out, image, channels, size);
  const std::int64_t ring = layout.ring_rows * layout.ring_pitch;
  return layout.scratch_bytes(taps, size) + Arena::bytes_for(ring * size) + Arena::bytes_for(ring) +
         Arena::bytes_for(layout.ring_rows * word) + Arena::bytes_for(layout.padded_elements * size) +
         Arena::bytes_for(layout.ring_pitch * size) + Arena::bytes_for(layout.ring_pitch) +
         3 * Arena::bytes_for(layout.window_rows * word) +
         Arena::bytes_for(static_cast<std::int64_t>(taps.row.size()) * size);
}

}  // namespace sepconv
#endif
