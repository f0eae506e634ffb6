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

  Op() = default;
  explicit Op(const PointwiseOp& op)
      : kind(op.kind),
        type(op.type),
        p(static_cast<A>(op.p)),
        q(static_cast<A>(op.q)),
        r(static_cast<A>(op.r)) {}

  /// x[i] = op(a[i], b[i]); the arrays may be one. What is to be done is decided outside the loop: once in
  /// the code, not once an element, which for a kernel of sixteen elements a thread is the difference between
  /// 3,000 and 50,000 instructions.
  template <int kCount>
  __device__ __forceinline__ void operator()(const A (&a)[kCount], const A (&b)[kCount],
                                             A (&x)[kCount]) const {
    using Kind = PointwiseOp::Kind;
    const auto each = [&](const auto& op) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) x[i] = op(a[i], b[i]);
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
    }
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
