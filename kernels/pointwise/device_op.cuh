// PointwiseOp on the device: ElementOp of element_op.hpp once more, and the sequence of them that a kernel applies to a value before
// it stores it.
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
      : kind(op.kind), type(op.type), p(static_cast<A>(op.p)), q(static_cast<A>(op.q)), r(static_cast<A>(op.r)) {}

  __device__ A operator()(A a, A b) const {
    using Kind = PointwiseOp::Kind;
    switch (kind) {
      case Kind::copy: return a;
      case Kind::scale: return fused_multiply_add(a, p, q);
      case Kind::clamp: {
        const A raised = a < p ? p : a;
        return raised > q ? q : raised;
      }
      case Kind::absolute: return fabs(a);
      case Kind::threshold: return a > p ? q : r;
      case Kind::round_to: {
        A rounded{};
        visit(type, [&]<class T>(T) { rounded = static_cast<A>(to_pixel<T>(a)); });
        return rounded;
      }
      case Kind::magnitude: return square_root(fused_multiply_add(a, a, b * b));
      case Kind::sum: return a + b;
      case Kind::difference: return a - b;
      case Kind::unsharp: {
        const A detail = a - b;
        return fabs(detail) >= q ? fused_multiply_add(p, detail, a) : a;
      }
    }
    return a;
  }
};

/// Where a kernel's results go, and the unary operations that they pass through on the way.
template <class A>
struct Store {
  Rows to;
  int count = 0;
  Op<A> then[kMostFusedOps];

  explicit Store(const PixelView& view, std::span<const PointwiseOp> ops = {}) : to(view) {
    if (ops.size() > kMostFusedOps) throw InvalidArgument("too many operations for one launch; give at most 8");
    for (const PointwiseOp& op : ops) then[count++] = Op<A>(op);
  }

  __device__ __forceinline__ A finished(A x) const {
    for (int i = 0; i < count; ++i) x = then[i](x, x);
    return x;
  }

  __device__ __forceinline__ void operator()(std::int64_t row, std::int64_t element, A x) const {
    to.store(row, element, finished(x));
  }
};

}  // namespace sepconv::device
