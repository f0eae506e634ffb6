#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/pointwise/element_alpha.hpp"
#include "kernels/pointwise/pointwise_check.hpp"
#include "kernels/simd/dispatch.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/pointwise/alpha_host.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/simd/vectors-inl.h"

#ifndef SEPCONV_ALPHA_PRESENCE
#define SEPCONV_ALPHA_PRESENCE
namespace sepconv {

struct AlphaPresence {
  bool missing = false, present = false;
  bool both() const noexcept { return missing && present; }
};

}  // namespace sepconv
#endif

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {

template <class T, class A>
A changed(const ElementAlpha<A>& op, A x, A alpha, bool is_alpha) {
  if (op.kind == AlphaOp::Kind::hide) return op.hidden(x, alpha, is_alpha);
  if (op.kind == AlphaOp::Kind::store) return op.template stored<T>(x, alpha, is_alpha);
  if (op.kind == AlphaOp::Kind::rescale) return op.rescaled(x, is_alpha);
  return op.template weighted<T>(x, alpha, is_alpha);
}

/// The definition, for any number of channels, in ascending order.
template <class A, class Change>
void change_pixels(A* row, std::int64_t elements, std::int64_t channels, std::int64_t alpha_channel,
                   const Change& change) {
  for (const A* const end = row + elements; row < end; row += channels) {
    const A alpha = row[alpha_channel];
    for (std::int64_t c = 0; c < channels; ++c) row[c] = change(row[c], alpha, c == alpha_channel);
  }
}

#if HWY_TARGET != HWY_SCALAR

/// The alpha of each element's pixel. Vectors begin with a pixel, and alpha is the last channel of two or
/// four.
template <int kChannels, class V>
HWY_INLINE V alpha_of(V x) {
  if constexpr (kChannels == 2)
    return hn::DupOdd(x);
  else
    return hn::Broadcast < sizeof(hn::TFromV<V>) == 4 ? 3 : 1 > (x);
}

template <int kChannels, class D>
HWY_INLINE hn::Mask<D> is_alpha(D d) {
  const hn::RebindToSigned<D> di;
  const auto lane = hn::Iota(di, 0);
  return hn::RebindMask(d, hn::Eq(hn::And(lane, hn::Set(di, kChannels - 1)), hn::Set(di, kChannels - 1)));
}

template <int kChannels, class A>
std::int64_t hide_vectors(const ElementAlpha<A>& op, A* row, std::int64_t elements) {
  const hn::ScalableTag<A> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto alpha_lane = is_alpha<kChannels>(d);
  const auto value = hn::Set(d, op.p);
  std::int64_t i = 0;
  for (; i + lanes <= elements; i += lanes) {
    const auto x = hn::LoadU(d, row + i);
    const auto alpha = alpha_of<kChannels>(x);
    const auto hidden = hn::Or(hn::Eq(alpha, hn::Zero(d)), hn::IsNaN(alpha));
    const auto equals_missing = hn::AndNot(alpha_lane, hn::Eq(x, value));
    hn::StoreU(hn::IfThenElse(hn::Or(hidden, equals_missing), hn::Set(d, op.kMissing), x), d, row + i);
  }
  return i;
}

/// For a type for which no colour is moved to another value (q == p).
template <class T, int kChannels, class A>
std::int64_t store_vectors(const ElementAlpha<A>& op, A* row, std::int64_t elements) {
  const hn::ScalableTag<A> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto alpha_lane = is_alpha<kChannels>(d);
  const auto zero = hn::Zero(d);
  const auto bound = hn::Set(d, std::is_integral_v<T> ? A(0.5) : A(0));
  std::int64_t i = 0;
  for (; i + lanes <= elements; i += lanes) {
    const auto x = hn::LoadU(d, row + i);
    const auto alpha = alpha_of<kChannels>(x);
    auto new_alpha = hn::IfThenElse(hn::Gt(alpha, bound), alpha, hn::Set(d, op.min_positive));
    const auto hidden = hn::IsNaN(alpha);
    new_alpha = hn::IfThenElse(hidden, zero, new_alpha);
    auto colour = hn::IfThenElse(hn::IsNaN(x), hn::Set(d, op.r), x);
    colour = hn::IfThenElse(hidden, hn::Set(d, op.p), colour);
    hn::StoreU(hn::IfThenElse(alpha_lane, new_alpha, colour), d, row + i);
  }
  return i;
}

/// For a type that represents every positive number of A, or for integers.
template <class T, int kChannels, class A>
std::int64_t weight_vectors(const ElementAlpha<A>& op, A* row, std::int64_t elements) {
  using Kind = AlphaOp::Kind;
  const hn::ScalableTag<A> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto alpha_lane = is_alpha<kChannels>(d);
  const auto bound = hn::Set(d, std::is_integral_v<T> ? A(0.5) : A(0));
  std::int64_t i = 0;
  for (; i + lanes <= elements; i += lanes) {
    const auto x = hn::LoadU(d, row + i);
    const auto alpha = alpha_of<kChannels>(x);
    const auto weight = hn::Div(alpha, hn::Set(d, op.r));
    auto colour = x;
    if (op.kind == Kind::multiply) colour = hn::Mul(x, weight);
    if (op.kind == Kind::divide) colour = hn::Div(x, weight);
    const auto new_alpha = hn::IfThenElse(alpha_lane, x, colour);
    hn::StoreU(hn::IfThenElse(hn::Gt(alpha, bound), new_alpha, hn::Set(d, op.p)), d, row + i);
  }
  return i;
}

#endif

/// Changes the part of the row that vectors support: alpha is the last of two channels, or of four of f32.
/// Returns the number of elements changed.
template <class T, class A>
std::int64_t change_vectors(const ElementAlpha<A>& op, A* row, std::int64_t elements, std::int64_t channels) {
#if HWY_TARGET != HWY_SCALAR
  if (op.channel != channels - 1 || op.kind == AlphaOp::Kind::rescale) return 0;
  const bool two = channels == 2, four = channels == 4 && sizeof(A) == 4;
  if (op.kind == AlphaOp::Kind::hide) {
    if (two) return hide_vectors<2>(op, row, elements);
    return four ? hide_vectors<4>(op, row, elements) : 0;
  }
  // Whether a value stored as f32 is positive needs another test than these comparisons.
  if (std::is_floating_point_v<T> && sizeof(T) < sizeof(A)) return 0;
  if (op.kind != AlphaOp::Kind::store) {
    if (two) return weight_vectors<T, 2>(op, row, elements);
    return four ? weight_vectors<T, 4>(op, row, elements) : 0;
  }
  if (op.q != op.p) return 0;
  if (two) return store_vectors<T, 2>(op, row, elements);
  return four ? store_vectors<T, 4>(op, row, elements) : 0;
#else
  (void)op, (void)row, (void)elements, (void)channels;
  return 0;
#endif
}

template <class T, class A>
void change_row(const ElementAlpha<A>& op, A* row, std::int64_t elements, std::int64_t channels) {
  const std::int64_t done = change_vectors<T>(op, row, elements, channels);
  change_pixels(row + done, elements - done, channels, op.channel,
                [&](A x, A alpha, bool is_alpha) { return changed<T>(op, x, alpha, is_alpha); });
}

template <class A>
void change(const AlphaOp& alpha_op, const ConstPixelView& in, const PixelView& out) {
  const ElementAlpha<A> op(alpha_op);
  const LoadRow<A> load = load_row_for<A>(in.type);
  const StoreRow<A> store = store_row_for<A>(out.type);
  constexpr std::int64_t kElements = 1024;
  std::vector<A> piece(static_cast<std::size_t>(std::max(kElements, in.channels)));
  const std::int64_t cols = std::ssize(piece) / in.channels;
  visit_pixel_type(op.type, [&]<class T>(std::type_identity<T>) {
    for (std::int64_t row = 0; row < in.extent.rows; ++row) {
      for (std::int64_t col = 0; col < in.extent.cols; col += cols) {
        const std::int64_t elements = std::min(cols, in.extent.cols - col) * in.channels;
        load(in.row_data(row) + col * in.pixel_bytes(), elements, piece.data());
        change_row<T>(op, piece.data(), elements, in.channels);
        store(piece.data(), elements, out.row_data(row) + col * out.pixel_bytes());
      }
    }
  });
}

/// Tests only alpha, if it is the last of two or four channels. Returns the number of pixels tested.
template <int kChannels, class T>
std::int64_t scan_alpha_vectors(const T* row, std::int64_t cols, AlphaPresence& presence) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t col = 0;
  for (; col + lanes <= cols && !presence.both(); col += lanes) {
    hn::Vec<decltype(d)> alpha, other;
    if constexpr (kChannels == 2) hn::LoadInterleaved2(d, row + col * 2, other, alpha);
    if constexpr (kChannels == 4) hn::LoadInterleaved4(d, row + col * 4, other, other, other, alpha);
    const auto hidden = hn::Eq(alpha, hn::Zero(d));
    presence.missing = presence.missing || !hn::AllFalse(d, hidden);
    presence.present = presence.present || !hn::AllTrue(d, hidden);
  }
  return col;
}

template <class T>
void scan_alpha_row(const T* row, std::int64_t cols, std::int64_t channels, const AlphaOp& hide,
                    AlphaPresence& presence) {
  const bool tests_all_channels = std::is_floating_point_v<T> || !std::isnan(hide.p);
  std::int64_t col = 0;
  if (!tests_all_channels && hide.channel == channels - 1) {
    if (channels == 2) col = scan_alpha_vectors<2>(row, cols, presence);
    if (channels == 4) col = scan_alpha_vectors<4>(row, cols, presence);
  }
  for (; col < cols && !presence.both(); ++col) {
    const T* const x = row + col * channels;
    const T alpha = x[hide.channel];
    const bool hidden = !(alpha > 0 || alpha < 0);
    presence.missing = presence.missing || hidden;
    presence.present = presence.present || !hidden;
    for (std::int64_t c = 0; tests_all_channels && !hidden && c < channels; ++c)
      presence.missing =
          presence.missing || x[c] != x[c] || (c != hide.channel && static_cast<double>(x[c]) == hide.p);
  }
}

AlphaPresence scan_alpha(const ConstPixelView& pixels, const AlphaOp& hide) {
  return visit_pixel_type(pixels.type, [&]<class T>(std::type_identity<T>) {
    AlphaPresence presence;
    for (std::int64_t row = 0; row < pixels.extent.rows && !presence.both(); ++row)
      scan_alpha_row(pixels.row<T>(row), pixels.extent.cols, pixels.channels, hide, presence);
    return presence;
  });
}

void alpha_f32(const AlphaOp& op, const ConstPixelView& in, const PixelView& out) {
  change<float>(op, in, out);
}
void alpha_f64(const AlphaOp& op, const ConstPixelView& in, const PixelView& out) {
  change<double>(op, in, out);
}

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sepconv {

HWY_EXPORT(scan_alpha);
HWY_EXPORT(alpha_f32);
HWY_EXPORT(alpha_f64);

void alpha_host(const AlphaOp& op, const ConstPixelView& in, const PixelView& out, Arithmetic arithmetic) {
  check_alpha(op, in, out);
  if (arithmetic == Arithmetic::f64) return HWY_DYNAMIC_DISPATCH(alpha_f64)(op, in, out);
  HWY_DYNAMIC_DISPATCH(alpha_f32)(op, in, out);
}

void keep_alpha_host(std::int64_t channel, const ConstPixelView& in, const PixelView& out,
                     Arithmetic arithmetic) {
  check_alpha({.channel = channel}, in, out);
  visit_arithmetic(arithmetic, [&]<class A>(std::type_identity<A>) {
    visit_pixel_type(in.type, [&]<class From>(std::type_identity<From>) {
      visit_pixel_type(out.type, [&]<class To>(std::type_identity<To>) {
        for (std::int64_t row = 0; row < out.extent.rows; ++row) {
          const From* x = in.row<From>(row) + channel;
          To* y = out.row<To>(row) + channel;
          for (std::int64_t col = 0; col < out.extent.cols; ++col, x += in.channels, y += out.channels)
            if (*y == *y) *y = to_pixel<To>(to_arithmetic<A>(*x));
        }
      });
    });
  });
}

MissingState find_missing_state(const ConstPixelView& pixels, const AlphaOp& hide) {
  const AlphaPresence presence = HWY_DYNAMIC_DISPATCH(scan_alpha)(pixels, hide);
  return !presence.missing  ? MissingState::none_missing
         : presence.present ? MissingState::some_missing
                            : MissingState::all_missing;
}

}  // namespace sepconv
#endif
