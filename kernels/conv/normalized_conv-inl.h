// Row and column passes of a normalized convolution (normalized_conv.hpp). Included once per target.
#if defined(SEPCONV_CONV_PRESENT_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SEPCONV_CONV_PRESENT_INL_H
#undef SEPCONV_CONV_PRESENT_INL_H
#else
#define SEPCONV_CONV_PRESENT_INL_H
#endif

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>

#include "kernels/conv/row_sweep-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {

/// Bytes of a mask with one bit for each lane.
template <class D>
HWY_INLINE std::int64_t bits_bytes(D d) {
  return (static_cast<std::int64_t>(hn::Lanes(d)) + 7) / 8;
}

/// Lanes that are equal to `value` or NaN.
template <class D>
HWY_INLINE hn::Mask<D> is_missing(D, hn::Vec<D> x, hn::Vec<D> value) {
  const auto same = hn::Eq(x, value);
  if constexpr (std::is_floating_point_v<hn::TFromD<D>>) return hn::Or(same, hn::Not(hn::Eq(x, x)));
  return same;
}

/// Whether any of a row's pixels is missing. A `value` that T cannot represent matches no pixel.
using AnyMissing = bool (*)(const std::byte* pixels, std::int64_t count, double value);

template <class T>
bool any_missing(const std::byte* pixels, std::int64_t count, double value) {
  constexpr std::int64_t kVectors = 8;
  if constexpr (std::is_integral_v<T>) {
    using Limits = std::numeric_limits<T>;
    if (!(value >= Limits::lowest() && value <= Limits::max()) || value != static_cast<T>(value))
      return false;
  }
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const T* const from = reinterpret_cast<const T*>(pixels);
  const auto wanted = hn::Set(d, static_cast<T>(value));
  std::int64_t i = 0;
  for (; i + kVectors * lanes <= count; i += kVectors * lanes) {
    auto any = is_missing(d, hn::LoadU(d, from + i), wanted);
    SEPCONV_UNROLL for (int k = 1; k < kVectors; ++k) any =
        hn::Or(any, is_missing(d, hn::LoadU(d, from + i + k * lanes), wanted));
    if (!hn::AllFalse(d, any)) return true;
  }
  for (; i + lanes <= count; i += lanes)
    if (!hn::AllFalse(d, is_missing(d, hn::LoadU(d, from + i), wanted))) return true;
  return std::any_of(from + i, from + count, [=](T x) { return x == static_cast<T>(value) || x != x; });
}

/// Replaces missing values by 0 and sets the weights: 0 for missing, 1 for valid. Whole vectors.
template <class A>
void split_missing(A* values, A* weights, std::int64_t count, A missing) {
  const hn::ScalableTag<A> d;
  for (std::int64_t i = 0; i < count; i += static_cast<std::int64_t>(hn::Lanes(d))) {
    const auto x = hn::LoadU(d, values + i);
    const auto missing_mask = is_missing(d, x, hn::Set(d, missing));
    hn::StoreU(hn::IfThenZeroElse(missing_mask, x), d, values + i);
    hn::StoreU(hn::IfThenZeroElse(missing_mask, hn::Set(d, A(1))), d, weights + i);
  }
}

/// Sets a bit for each weight that is 0. Whole vectors.
template <class A>
void missing_bits(const A* weights, std::int64_t count, std::uint8_t* bits) {
  const hn::ScalableTag<A> d;
  for (std::int64_t i = 0; i < count; i += static_cast<std::int64_t>(hn::Lanes(d)), bits += bits_bytes(d))
    hn::StoreMaskBits(d, hn::Eq(hn::LoadU(d, weights + i), hn::Zero(d)), bits);
}

/// Calls group(first, last) for groups of weights that are 0; gaps in a group are at most `max_gap`.
template <class A, class Group>
void for_each_group(const A* weights, std::int64_t count, std::int64_t max_gap, const Group& group) {
  const hn::ScalableTag<A> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t first = -1, last = -1;
  for (std::int64_t i = 0; i < count; i += lanes) {
    alignas(8) std::uint8_t bytes[8] = {};
    hn::StoreMaskBits(d, hn::Eq(hn::LoadU(d, weights + i), hn::Zero(d)), bytes);
    std::uint64_t bits = 0;
    std::memcpy(&bits, bytes, sizeof bits);
    if (count - i < lanes) bits &= (std::uint64_t{1} << (count - i)) - 1;
    for (; bits != 0; bits &= bits - 1) {
      const std::int64_t at = i + std::countr_zero(bits);
      if (first >= 0 && at - last > max_gap) group(first, last), first = at;
      if (first < 0) first = at;
      last = at;
    }
  }
  if (first >= 0) group(first, last);
}

/// Parameters of the final step after the column passes of values and weights.
template <class A>
struct NormalizedEpilogue {
  A total;                 ///< filtered weight if no pixel is missing
  bool has_store = false;  ///< apply store_missing with p and q
  A missing_value = 0, replacement = 0;
};

/// The rows under a block of output rows, and the missing pixels of the output rows.
template <class A>
struct NormalizedWindow {
  const A* const* values;
  const A* const* weights;
  const std::uint8_t* const* bits;  ///< missing bits of each output row, from its first element on
};

template <class T, class D, class A = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> renormalised(D d, const NormalizedEpilogue<A>& epilogue, hn::Vec<D> num, hn::Vec<D> den,
                                   hn::Mask<D> missing_mask) {
  const auto total = hn::Set(d, epilogue.total);
  const auto missing = hn::Set(d, std::numeric_limits<A>::quiet_NaN());
  const auto rescaled = hn::IfThenElse(hn::Gt(den, hn::Zero(d)), hn::Mul(num, hn::Div(total, den)), missing);
  const auto x = hn::IfThenElse(hn::Or(hn::Eq(den, total), hn::IsNaN(num)), num, rescaled);
  const auto result = hn::IfThenElse(missing_mask, missing, x);
  if (!epilogue.has_store) return result;
  const auto missing_value = hn::Set(d, epilogue.missing_value);
  const auto stored = round_to<T>(d, result);
  return hn::IfThenElse(
      hn::IsNaN(result), missing_value,
      hn::IfThenElse(hn::Eq(stored, missing_value), hn::Set(d, epilogue.replacement), stored));
}

/// Vectors of values and weights at element i, so that each tap is loaded once for both.
template <class A>
struct ValuesAndWeights {
  const A* const* values;
  const A* const* weights;
  std::int64_t i;
  HWY_INLINE const A* operator()(std::int64_t row, std::int64_t vector, std::size_t) const {
    return (vector == 0 ? values : weights)[row] + i;
  }
};

/// Computes kRows output rows of columns [first, last); `first` is a multiple of the lanes.
template <int kRows, class A, class T>
void normalized_columns(Taps<A> taps, const NormalizedEpilogue<A>& epilogue,
                        const NormalizedWindow<A>& window, std::int64_t first, std::int64_t last, T* to,
                        std::int64_t pitch) {
  const hn::ScalableTag<A> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t i = first; i < last; i += lanes) {
    hn::Vec<decltype(d)> sum[kRows][2];
    column_sums(d, taps, ValuesAndWeights<A>{window.values, window.weights, i}, sum);
    SEPCONV_UNROLL for (int r = 0; r < kRows; ++r) {
      const auto missing_mask = hn::LoadMaskBits(d, window.bits[r] + i / lanes * bits_bytes(d));
      const auto x = renormalised<T>(d, epilogue, sum[r][0], sum[r][1], missing_mask);
      if (i + lanes <= last) {
        store_vector(d, x, to + r * pitch + i);
      } else {
        T whole[hn::MaxLanes(d)];
        store_vector(d, x, whole);
        std::copy_n(whole, last - i, to + r * pitch + i);
      }
    }
  }
}

/// Any number of rows: as many at a time as registers and taps allow, then halves of that.
template <int kRows, class A, class T>
void normalized_rows(Taps<A> taps, const NormalizedEpilogue<A>& epilogue, NormalizedWindow<A> window,
                     std::int64_t rows, std::int64_t first, std::int64_t last, T* to, std::int64_t pitch) {
  for (; rows >= kRows && taps.count >= kRows - 1; rows -= kRows, to += kRows * pitch) {
    normalized_columns<kRows>(taps, epilogue, window, first, last, to, pitch);
    window = {window.values + kRows, window.weights + kRows, window.bits + kRows};
  }
  if constexpr (kRows > 1) normalized_rows<kRows / 2>(taps, epilogue, window, rows, first, last, to, pitch);
}

template <class A>
using NormalizedPass = void (*)(Taps<A> taps, const NormalizedEpilogue<A>& epilogue,
                                const NormalizedWindow<A>& window, std::int64_t rows, std::int64_t first,
                                std::int64_t last, std::byte* to, std::int64_t pitch_bytes);

template <class A, class T>
void normalized_pass(Taps<A> taps, const NormalizedEpilogue<A>& epilogue, const NormalizedWindow<A>& window,
                     std::int64_t rows, std::int64_t first, std::int64_t last, std::byte* to,
                     std::int64_t pitch_bytes) {
  normalized_rows<RegisterBlocks::kColRows>(taps, epilogue, window, rows, first, last,
                                            reinterpret_cast<T*>(to),
                                            pitch_bytes / static_cast<std::int64_t>(sizeof(T)));
}

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
