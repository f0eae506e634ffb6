// Means of integers, whose sums are exact in any order: running sums down the columns, whose leaving rows are
// read from the image again, and prefix sums along each row of them. Included once per target.
#if defined(SEPCONV_WINDOW_INTEGER_BOX_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SEPCONV_WINDOW_INTEGER_BOX_INL_H
#undef SEPCONV_WINDOW_INTEGER_BOX_INL_H
#else
#define SEPCONV_WINDOW_INTEGER_BOX_INL_H
#endif

#include <hwy/cache_control.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "kernels/conv/padded_row.hpp"
#include "kernels/sliding_window/elements-inl.h"
#include "kernels/sliding_window/integer_box.hpp"

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3

/// Shifts lanes up by kPlaces and fills with zeros.
template <int kPlaces, class V>
HWY_INLINE V shifted_up(V v) {
  constexpr int kBytes = kPlaces * static_cast<int>(sizeof(hn::TFromV<V>));
  const auto zero = _mm512_setzero_si512();
  if constexpr (kBytes % 4 == 0) return V{_mm512_alignr_epi32(v.raw, zero, 16 - kBytes / 4)};
  return V{_mm512_alignr_epi8(v.raw, _mm512_alignr_epi32(v.raw, zero, 12), 16 - kBytes)};
}

/// Prefix sums: to[i] = sum of elements 0 to i. at(i) returns the vector of elements from i on.
template <class S, class At>
HWY_INLINE void sum_along(std::int64_t count, const At& at, S* to) {
  const hn::ScalableTag<S> d;
  constexpr auto kLanes = static_cast<std::int64_t>(hn::MaxLanes(d));
  auto before = hn::Zero(d);
  const auto broadcast_last = [](auto v) {
    if constexpr (sizeof(S) == 2) return decltype(v){_mm512_permutexvar_epi16(_mm512_set1_epi16(31), v.raw)};
    if constexpr (sizeof(S) == 4) return decltype(v){_mm512_permutexvar_epi32(_mm512_set1_epi32(15), v.raw)};
  };
  for (std::int64_t i = 0; i < count; i += kLanes) {
    auto v = at(i);
    v = hn::Add(v, shifted_up<1>(v));
    v = hn::Add(v, shifted_up<2>(v));
    v = hn::Add(v, shifted_up<4>(v));
    v = hn::Add(v, shifted_up<8>(v));
    if constexpr (kLanes > 16) v = hn::Add(v, shifted_up<16>(v));
    hn::Store(hn::Add(v, before), d, to + i);
    before = hn::Add(before, broadcast_last(v));
  }
}

#else

template <class S, class At>
HWY_INLINE void sum_along(std::int64_t count, const At& at, S* to) {
  const hn::ScalableTag<S> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  S sum = 0;
  for (std::int64_t i = 0; i < count; i += lanes) {
    hn::Store(at(i), d, to + i);
    for (std::int64_t j = i; j < i + lanes; ++j) to[j] = sum = static_cast<S>(sum + to[j]);
  }
}

#endif

/// Means of pixels T, with sums down columns of type C and sums of windows of type S.
template <class T, class C, class S>
class IntegerBox {
 public:
  /// Whether sums are divided in integer arithmetic.
  static constexpr bool kDividesIntegers = std::is_same_v<S, std::uint16_t>;

  IntegerBox(const Window& window, const Border& border, const ConstRegion& in, const Region& out,
             Worker& worker)
      : window_(window),
        border_(border),
        in_(in),
        out_(out),
        worker_(worker),
        channels_(in.pixels.channels),
        pixels_((2 * window.radius_x + 1) * (2 * window.radius_y + 1)),
        sizes_(window, out.rect.extent(), channels_),
        totals_(worker.allocate<C>(sizes_.elements)),
        sums_(worker.allocate<S>(sizes_.elements)),
        line_(worker.allocate<float>(sizes_.elements)),
        constant_row_(worker.allocate<T>(sizes_.elements)),
        zeros_(worker.allocate<T>(sizes_.elements)),
        store_(store_row_for<float>(out.pixels.type)) {
    std::fill_n(constant_row_, sizes_.elements, constant());
    std::fill_n(zeros_, sizes_.elements, T(0));
  }

  void run() {
    const Rect& rect = out_.rect;
    for (std::int64_t col = rect.col; col < rect.col_end(); col += sizes_.strip_cols)
      run_strip({rect.row, col, rect.rows, std::min(sizes_.strip_cols, rect.col_end() - col)});
  }

 private:
  T constant() const {
    return border_.mode == BorderMode::constant ? static_cast<T>(static_cast<float>(border_.value)) : T(0);
  }

  void run_strip(const Rect& strip) {
    const PaddedColumns columns(strip.col, strip.cols, window_.radius_x, out_.image.cols);
    C* const inside = totals_ + columns.before() * channels_;
    const std::int64_t radius = window_.radius_y, count = columns.inside() * channels_;
    const auto constant_sum = static_cast<C>(constant() * (2 * radius + 1));
    std::fill_n(inside, count, C(0));
    for (std::int64_t row = strip.row - radius; row < strip.row + radius; ++row)
      add_row(row_at(row, columns), zeros_, count, inside);
    for (std::int64_t row = strip.row; row < strip.row_end(); ++row) {
      worker_.throw_if_stopped();
      const T* const leaving = row == strip.row ? zeros_ : row_at(row - radius - 1, columns);
      add_row(row_at(row + radius, columns), leaving, count, inside);
      extend_row(totals_, columns, out_.image.cols, border_.mode, channels_, constant_sum);
      store_means(row, strip);
    }
  }

  /// The row's pixels inside the image.
  const T* row_at(std::int64_t row, const PaddedColumns& columns) const {
    const std::int64_t mapped = border_index(row, out_.image.rows, border_.mode);
    if (mapped < 0) return constant_row_;
    return reinterpret_cast<const T*>(in_.pixels.row_data(mapped - in_.rect.row)) +
           (columns.inside_begin - in_.rect.col) * channels_;
  }

  /// Adds row `entering` to the sums and subtracts row `leaving`.
  void add_row(const T* entering, const T* leaving, std::int64_t count, C* totals) const {
    const hn::ScalableTag<C> d;
    const hn::Rebind<T, decltype(d)> d_pixel;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const std::int64_t next = 2 * in_.pixels.pitch_bytes / static_cast<std::int64_t>(sizeof(T));
    std::int64_t i = 0;
    for (; i + lanes <= count; i += lanes) {
      hwy::Prefetch(entering + next + i);
      const auto added = hn::PromoteTo(d, hn::LoadU(d_pixel, entering + i));
      const auto removed = hn::PromoteTo(d, hn::LoadU(d_pixel, leaving + i));
      hn::StoreU(hn::Sub(hn::Add(hn::LoadU(d, totals + i), added), removed), d, totals + i);
    }
    for (; i < count; ++i) totals[i] = static_cast<C>(totals[i] + entering[i] - leaving[i]);
  }

  /// Column sums from element i on.
  HWY_INLINE hn::Vec<hn::ScalableTag<S>> totals_at(std::int64_t i) const {
    const hn::ScalableTag<S> d;
    if constexpr (std::is_same_v<C, S>) return hn::LoadU(d, totals_ + i);
    if constexpr (!std::is_same_v<C, S>)
      return hn::PromoteTo(d, hn::LoadU(hn::Rebind<C, decltype(d)>(), totals_ + i));
  }

  void store_means(std::int64_t row, const Rect& strip) const {
    const hn::ScalableTag<S> d;
    const std::int64_t neighbours = 2 * window_.radius_x + 1;
    if (neighbours == 1) return store_sums(row, strip, [&](std::int64_t i) { return totals_at(i); });
    if (neighbours == 3) {
      return store_sums(row, strip, [&](std::int64_t i) {
        return hn::Add(hn::Add(totals_at(i), totals_at(i + channels_)), totals_at(i + 2 * channels_));
      });
    }
    S* const prefix_sums = sums_ + hn::Lanes(d);  // preceded by a zero
    prefix_sums[-1] = 0;
    sum_along(
        strip.cols + neighbours - 1, [&](std::int64_t i) { return totals_at(i); }, prefix_sums);
    store_sums(row, strip, [&](std::int64_t i) {
      return hn::Sub(hn::LoadU(d, prefix_sums + i + neighbours - 1), hn::LoadU(d, prefix_sums + i - 1));
    });
  }

  template <class Sums>
  HWY_INLINE void store_sums(std::int64_t row, const Rect& strip, const Sums& sums) const {
    std::byte* const to =
        out_.pixels.row_data(row - out_.rect.row) + (strip.col - out_.rect.col) * out_.pixels.pixel_bytes();
    const std::int64_t count = strip.cols * channels_;
    T* const line = reinterpret_cast<T*>(line_);
    const bool stores_directly = out_.pixels.type == pixel_type_of<T>();
    if constexpr (kDividesIntegers) {
      divide_bytes(count, sums, line);
    } else if (stores_directly) {
      divide(count, sums, line);
    } else {
      divide(count, sums, line_);
      return store_(line_, count, to);
    }
    write_row(line, count, reinterpret_cast<T*>(to), out_.past_caches, [](auto v) { return v; });
  }

  template <class Sums>
  HWY_INLINE void divide_bytes(std::int64_t count, const Sums& sums, std::uint8_t* to) const {
    const hn::ScalableTag<S> d;
    const hn::RebindToSigned<decltype(d)> integers;
    const hn::Rebind<std::uint8_t, decltype(d)> d8;
    const ByteQuotient quotient(pixels_);
    const auto half = hn::Set(d, quotient.half), multiplier = hn::Set(d, quotient.multiplier);
    for (std::int64_t i = 0; i < count; i += static_cast<std::int64_t>(hn::Lanes(d))) {
      const auto product = hn::MulHigh(hn::Add(sums(i), half), multiplier);
      const auto mean = hn::ShiftRightSame(product, quotient.shift);
      hn::StoreU(hn::DemoteTo(d8, hn::BitCast(integers, mean)), d8, to + i);
    }
  }

  template <class Sums, class To>
  HWY_INLINE void divide(std::int64_t count, const Sums& sums, To* to) const {
    const hn::ScalableTag<float> d;
    const WholeQuotient division(static_cast<float>(pixels_));
    const auto divisor = hn::Set(d, division.divisor), reciprocal = hn::Set(d, division.reciprocal);
    for (std::int64_t i = 0; i < count; i += static_cast<std::int64_t>(hn::Lanes(d))) {
      const auto sum = hn::ConvertTo(d, sums(i));
      const auto quotient = hn::Mul(sum, reciprocal);
      const auto remainder = fused_multiply_add(hn::Neg(quotient), divisor, sum);
      store_vector(d, fused_multiply_add(remainder, reciprocal, quotient), to + i);
    }
  }

  Window window_;
  Border border_;
  ConstRegion in_;
  Region out_;
  Worker& worker_;
  std::int64_t channels_;
  std::int64_t pixels_;  ///< of a window
  IntegerBoxSizes sizes_;
  C* totals_;  ///< of columns
  S* sums_;
  float* line_;
  T *constant_row_, *zeros_;
  StoreRow<float> store_;
};

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
