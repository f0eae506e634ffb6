// An AlphaOp on one element, in the arithmetic type A: the definition. Private to this folder.
#pragma once

#include <cmath>
#include <limits>

#include "kernels/pointwise/alpha.hpp"
#include "kernels/simd/rows.hpp"

namespace sepconv {

/// The smallest positive normal number of the type.
template <class A>
A min_alpha(PixelType type) {
  if (!is_floating(type)) return 1;
  return type == PixelType::f32 ? static_cast<A>(std::numeric_limits<float>::min())
                                : std::numeric_limits<A>::min();
}

/// An AlphaOp with its parameters rounded to the arithmetic type.
template <class A>
struct ElementAlpha {
  AlphaOp::Kind kind;
  std::int64_t channel;
  A p, q, r, min_positive;
  PixelType type;

  explicit ElementAlpha(const AlphaOp& op)
      : kind(op.kind),
        channel(op.channel),
        p(static_cast<A>(op.p)),
        q(static_cast<A>(op.q)),
        r(static_cast<A>(op.r)),
        min_positive(min_alpha<A>(op.type)),
        type(op.type) {}

  static constexpr A kMissing = std::numeric_limits<A>::quiet_NaN();

  /// For element x of a pixel with this alpha.
  A hidden(A x, A alpha, bool is_alpha) const {
    return alpha == 0 || std::isnan(alpha) || (!is_alpha && x == p) ? kMissing : x;
  }
  /// Kind::store, for the stored type T.
  template <class T>
  A stored(A x, A alpha, bool is_alpha) const {
    if (is_alpha) return std::isnan(alpha) ? A(0) : is_positive<T>(x) ? x : min_positive;
    if (std::isnan(alpha)) return p;
    if (std::isnan(x)) return r;
    return q != p && static_cast<A>(to_pixel<T>(x)) == p ? q : x;
  }
  A rescaled(A x, bool is_alpha) const { return is_alpha ? x * p / r : x; }
  /// Kinds multiply, divide and clear, for an alpha that is stored as T.
  template <class T>
  A weighted(A x, A alpha, bool is_alpha) const {
    if (!is_positive<T>(alpha)) return p;
    if (is_alpha || kind == AlphaOp::Kind::clear) return x;
    const A weight = alpha / r;
    return kind == AlphaOp::Kind::multiply ? x * weight : x / weight;
  }

 private:
  /// Whether x is positive after conversion to T; 0.5 is rounded to 0.
  template <class T>
  static bool is_positive(A x) {
    return std::is_integral_v<T> ? x > A(0.5) : static_cast<T>(x) > 0;
  }
};

}  // namespace sepconv
