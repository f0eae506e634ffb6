// PointwiseOp on the device: ElementOp of element_op.hpp once more, and the sequence of them that a kernel
// applies to a value before it stores it.
#pragma once

#include <cstdint>
#include <span>

#include "sepconv/core/error.hpp"
#include "sepconv/kernels/cuda/device_pixel.cuh"
#include "sepconv/kernels/pointwise/pointwise.hpp"

namespace sepconv::device {

template <class A>
struct Op {
  PointwiseOp::Kind kind = PointwiseOp::Kind::copy;
  PixelType type = PixelType::f32;
  A p = 0, q = 0, r = 0;
  bool keeps_missing = false;

  Op() = default;
  explicit Op(const PointwiseOp& op)
      : kind(op.kind),
        type(op.type),
        p(static_cast<A>(op.p)),
        q(static_cast<A>(op.q)),
        r(static_cast<A>(op.r)),
        keeps_missing(op.keeps_missing) {}

  /// x[i] = op(a[i], b[i]); the arrays may be one. What is to be done is decided outside the loop: once in
  /// the code, not once an element, which for a kernel of sixteen elements a thread is the difference between
  /// 3,000 and 50,000 instructions.
  template <int kCount>
  __device__ __forceinline__ void operator()(const A (&a)[kCount], const A (&b)[kCount],
                                             A (&x)[kCount]) const {
    using Kind = PointwiseOp::Kind;
    const auto each = [&](const auto& op) {
#pragma unroll
      for (int i = 0; i < kCount; ++i)
        x[i] = keeps_missing && (isnan(a[i]) || isnan(b[i])) ? missing() : op(a[i], b[i]);
    };
    switch (kind) {
      case Kind::copy:
        return each([](A u, A) { return u; });
      case Kind::scale:
        return each([&](A u, A) { return fused_multiply_add(u, p, q); });
      case Kind::clamp:
        return each([&](A u, A) {
          const A raised = u < p ? p : u;
          return raised > q ? q : raised;
        });
      case Kind::absolute:
        return each([](A u, A) { return fabs(u); });
      case Kind::threshold:
        return each([&](A u, A) { return u > p ? q : r; });
      case Kind::round_to:
        return visit(type, [&]<class T>(T) { each([](A u, A) { return static_cast<A>(to_pixel<T>(u)); }); });
      case Kind::mark_missing:
        return each([&](A u, A) { return u == p ? missing() : u; });
      case Kind::zero_missing:
        return each([](A u, A) { return isnan(u) ? A(0) : u; });
      case Kind::weight:
        return each([](A u, A) { return isnan(u) ? A(0) : A(1); });
      case Kind::store_missing:
        return visit(type, [&]<class T>(T) {
          each([&](A u, A) {
            const A stored = static_cast<A>(to_pixel<T>(u));
            return isnan(u) ? p : stored == p ? q : stored;
          });
        });
      case Kind::magnitude:
        return each([](A u, A v) { return square_root(fused_multiply_add(u, u, v * v)); });
      case Kind::sum:
        return each([](A u, A v) { return u + v; });
      case Kind::difference:
        return each([](A u, A v) { return u - v; });
      case Kind::unsharp:
        return each([&](A u, A v) {
          const A detail = u - v;
          return fabs(detail) >= q ? fused_multiply_add(p, detail, u) : u;
        });
      case Kind::keep_missing:
        return each([](A u, A v) { return isnan(u) ? missing() : v; });
      case Kind::quotient:
        return each([](A u, A v) { return u / v; });
      case Kind::renormalise:
        return each([&](A u, A v) { return v == p || isnan(u) ? u : v > 0 ? u * (p / v) : missing(); });
    }
  }

  /// std::numeric_limits<A>::quiet_NaN().
  __device__ static __forceinline__ A missing() {
    if constexpr (sizeof(A) == 4)
      return __int_as_float(0x7fc00000);
    else
      return __longlong_as_double(0x7ff8000000000000LL);
  }
};

/// Where a kernel's results go, and the unary operations that they pass through on the way.
template <class A>
struct Store {
  Rows to;
  int count = 0;
  Op<A> then[kMostFusedOps];

  explicit Store(const PixelView& view, std::span<const PointwiseOp> ops = {}) : to(view) {
    if (ops.size() > kMostFusedOps)
      throw InvalidArgument("too many operations for one launch; give at most 8");
    for (const PointwiseOp& op : ops) then[count++] = Op<A>(op);
  }

  /// What has to be done to results before they are stored.
  template <int kCount>
  __device__ __forceinline__ void finish(A (&x)[kCount]) const {
    for (int i = 0; i < count; ++i) then[i](x, x, x);
  }

  __device__ __forceinline__ void operator()(std::int64_t row, std::int64_t element, A value) const {
    A x[1] = {value};
    finish(x);
    to.store(row, element, x[0]);
  }
};

}  // namespace sepconv::device
