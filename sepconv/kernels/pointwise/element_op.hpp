// What each PointwiseOp does to one element, in the arithmetic type A: the definition that
// pointwise_reference applies as it stands and that pointwise_host has to equal bit for bit. Private to this
// folder.
#pragma once

#include <cmath>

#include "sepconv/kernels/pointwise/pointwise.hpp"
#include "sepconv/kernels/simd/rows.hpp"

namespace sepconv {

/// A PointwiseOp with its parameters rounded to the arithmetic type.
template <class A>
struct ElementOp {
  PointwiseOp::Kind kind;
  A p, q, r;
  PixelType type;

  explicit ElementOp(const PointwiseOp& op)
      : kind(op.kind),
        p(static_cast<A>(op.p)),
        q(static_cast<A>(op.q)),
        r(static_cast<A>(op.r)),
        type(op.type) {}

  A operator()(A a, A b) const {
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
        return visit_pixel_type(
            type, [a]<class T>(std::type_identity<T>) { return static_cast<A>(to_pixel<T>(a)); });
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
    }
    return a;
  }
};

}  // namespace sepconv
