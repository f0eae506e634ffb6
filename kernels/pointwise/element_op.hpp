// Each PointwiseOp on one element, in the arithmetic type A: the definition. pointwise_reference applies it
// directly; pointwise_host must equal it bit for bit. Private to this folder.
#pragma once

#include <cmath>
#include <limits>

#include "kernels/pointwise/pointwise.hpp"
#include "kernels/simd/rows.hpp"

namespace sepconv {

/// A PointwiseOp with its parameters rounded to the arithmetic type.
template <class A>
struct ElementOp {
  PointwiseOp::Kind kind;
  A p, q, r;
  PixelType type;
  bool propagates_nodata;

  explicit ElementOp(const PointwiseOp& op)
      : kind(op.kind),
        p(static_cast<A>(op.p)),
        q(static_cast<A>(op.q)),
        r(static_cast<A>(op.r)),
        type(op.type),
        propagates_nodata(op.propagates_nodata) {}

  static constexpr A kMissing = std::numeric_limits<A>::quiet_NaN();

  A operator()(A a, A b) const {
    return propagates_nodata && (std::isnan(a) || std::isnan(b)) ? kMissing : value(a, b);
  }

 private:
  A rounded(A a) const {
    return visit_pixel_type(type,
                            [a]<class T>(std::type_identity<T>) { return static_cast<A>(to_pixel<T>(a)); });
  }

  A value(A a, A b) const {
    using Kind = PointwiseOp::Kind;
    switch (kind) {
      case Kind::copy:
        return a;
      case Kind::scale:
        return std::fma(a, p, q);
      case Kind::clamp: {
        const A raised = a < p ? p : a;
        return raised > q ? q : raised;
      }
      case Kind::absolute:
        return std::fabs(a);
      case Kind::threshold:
        return a > p ? q : r;
      case Kind::round_to:
        return rounded(a);
      case Kind::mark_missing:
        return a == p ? kMissing : a;
      case Kind::zero_missing:
        return std::isnan(a) ? A(0) : a;
      case Kind::weight:
        return std::isnan(a) ? A(0) : A(1);
      case Kind::store_missing: {
        const A stored = rounded(a);
        return std::isnan(a) ? p : stored == p ? q : stored;
      }
      case Kind::magnitude:
        return std::sqrt(std::fma(a, a, b * b));
      case Kind::sum:
        return a + b;
      case Kind::difference:
        return a - b;
      case Kind::unsharp: {
        const A detail = a - b;
        return std::fabs(detail) >= q ? std::fma(p, detail, a) : a;
      }
      case Kind::keep_missing:
        return std::isnan(a) ? kMissing : b;
      case Kind::fill_missing:
        return std::isnan(a) ? b : a;
      case Kind::keep_equal:
        return b == p ? a : kMissing;
      case Kind::quotient:
        return a / b;
      case Kind::product:
        return a * b;
      case Kind::lesser:
        return b < a ? b : a;
      case Kind::greater:
        return b > a ? b : a;
      case Kind::mix:
        return std::fma(a, p, b * q);
      case Kind::renormalise:
        return b == p || std::isnan(a) ? a : b > 0 ? a * (p / b) : kMissing;
    }
    return a;
  }
};

}  // namespace sepconv
