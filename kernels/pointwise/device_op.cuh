// PointwiseOp on the device (the same as ElementOp of element_op.hpp), and the sequence of operations that a
// kernel applies to a value before storing it.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>

#include "core/error.hpp"
#include "kernels/cuda/device_pixel.cuh"
#include "kernels/pointwise/pointwise.hpp"

namespace sepconv::device {

template <class A>
struct Op {
  PointwiseOp::Kind kind = PointwiseOp::Kind::copy;
  PixelType type = PixelType::f32;
  A p = 0, q = 0, r = 0;
  bool propagates_nodata = false;

  Op() = default;
  explicit Op(const PointwiseOp& op)
      : kind(op.kind),
        type(op.type),
        p(static_cast<A>(op.p)),
        q(static_cast<A>(op.q)),
        r(static_cast<A>(op.r)),
        propagates_nodata(op.propagates_nodata) {}

  /// x[i] = op(x[i]) for a unary operation. The operation is dispatched outside the loop: once in the code,
  /// not once per element, which makes 3,000 instead of 50,000 instructions for a kernel with sixteen
  /// elements per thread. Unary and binary operations are separate, so that a kernel contains only the code
  /// it can need.
  template <int kCount>
  __device__ __forceinline__ void unary(A (&x)[kCount]) const {
    using Kind = PointwiseOp::Kind;
    const Bits<kCount> missing_mask = propagates_nodata ? missing_in(x, x) : 0;
    const auto apply = [&](const auto& op) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) x[i] = op(x[i]);
    };
    switch (kind) {
      case Kind::scale:
        apply([&](A u) { return fused_multiply_add(u, p, q); });
        break;
      case Kind::clamp:
        apply([&](A u) {
          const A raised = u < p ? p : u;
          return raised > q ? q : raised;
        });
        break;
      case Kind::absolute:
        apply([](A u) { return fabs(u); });
        break;
      case Kind::threshold:
        apply([&](A u) { return u > p ? q : r; });
        break;
      case Kind::round_to:
        visit(type, [&]<class T>(T) { apply([](A u) { return static_cast<A>(to_pixel<T>(u)); }); });
        break;
      case Kind::mark_missing:
        apply([&](A u) { return u == p ? missing() : u; });
        break;
      case Kind::zero_missing:
        apply([](A u) { return isnan(u) ? A(0) : u; });
        break;
      case Kind::weight:
        apply([](A u) { return isnan(u) ? A(0) : A(1); });
        break;
      case Kind::store_missing:
        visit(type, [&]<class T>(T) {
          apply([&](A u) {
            const A stored = static_cast<A>(to_pixel<T>(u));
            return isnan(u) ? p : stored == p ? q : stored;
          });
        });
        break;
      default:  // copy
        break;
    }
    make_missing<kCount>(missing_mask, x);
  }

  /// The same for two elements, for the operations that combine images and do not occur within a stage, so
  /// that no convolution contains their code.
  __device__ __forceinline__ A joined(A u, A v) const {
    using Kind = PointwiseOp::Kind;
    if (propagates_nodata && (isnan(u) || isnan(v))) return missing();
    switch (kind) {
      case Kind::product:
        return u * v;
      case Kind::lesser:
        return v < u ? v : u;
      case Kind::greater:
        return v > u ? v : u;
      default:  // mix
        return fused_multiply_add(u, p, v * q);
    }
  }

  /// x[i] = op(a[i], b[i]) for the other binary operations; the arrays may be the same.
  template <int kCount>
  __device__ __forceinline__ void binary(const A (&a)[kCount], const A (&b)[kCount], A (&x)[kCount]) const {
    using Kind = PointwiseOp::Kind;
    const Bits<kCount> missing_mask = propagates_nodata ? missing_in(a, b) : 0;
    const auto apply = [&](const auto& op) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) x[i] = op(a[i], b[i]);
    };
    switch (kind) {
      case Kind::magnitude:
        apply([](A u, A v) { return square_root(fused_multiply_add(u, u, v * v)); });
        break;
      case Kind::sum:
        apply([](A u, A v) { return u + v; });
        break;
      case Kind::difference:
        apply([](A u, A v) { return u - v; });
        break;
      case Kind::unsharp:
        apply([&](A u, A v) {
          const A detail = u - v;
          return fabs(detail) >= q ? fused_multiply_add(p, detail, u) : u;
        });
        break;
      case Kind::keep_missing:
        apply([](A u, A v) { return isnan(u) ? missing() : v; });
        break;
      case Kind::fill_missing:
        apply([](A u, A v) { return isnan(u) ? v : u; });
        break;
      case Kind::keep_equal:
        apply([&](A u, A v) { return v == p ? u : missing(); });
        break;
      case Kind::quotient:
        apply([](A u, A v) { return u / v; });
        break;
      case Kind::renormalise:
        apply([&](A u, A v) { return v == p || isnan(u) ? u : v > 0 ? u * (p / v) : missing(); });
        break;
      default:
        break;
    }
    make_missing<kCount>(missing_mask, x);
  }

  template <int kCount>
  using Bits = std::conditional_t<(kCount > 32), std::uint64_t, std::uint32_t>;

  /// A bit for each element for which a or b is missing. Testing this next to every operation for each
  /// element would double the code of the longest kernels.
  template <int kCount>
  __device__ static __forceinline__ Bits<kCount> missing_in(const A (&a)[kCount], const A (&b)[kCount]) {
    static_assert(kCount <= 64);
    Bits<kCount> missing_mask = 0;
#pragma unroll
    for (int i = 0; i < kCount; ++i) missing_mask |= Bits<kCount>{isnan(a[i]) || isnan(b[i])} << i;
    return missing_mask;
  }
  template <int kCount>
  __device__ static __forceinline__ void make_missing(Bits<kCount> missing_mask, A (&x)[kCount]) {
    if (missing_mask == 0) return;
#pragma unroll
    for (int i = 0; i < kCount; ++i) x[i] = (missing_mask >> i & 1) != 0 ? missing() : x[i];
  }

  /// std::numeric_limits<A>::quiet_NaN().
  __device__ static __forceinline__ A missing() {
    if constexpr (sizeof(A) == 4)
      return __int_as_float(0x7fc00000);
    else
      return __longlong_as_double(0x7ff8000000000000LL);
  }
};

/// The destination of a kernel's results, and the unary operations that are applied before the store.
template <class A>
struct Store {
  Rows to;
  int count = 0;
  Op<A> fused_ops[kMaxFusedOps];

  explicit Store(const PixelView& view, std::span<const PointwiseOp> ops = {}) : to(view) {
    if (ops.size() > kMaxFusedOps)
      throw InvalidArgument("too many operations for one launch; give at most 8");
    for (const PointwiseOp& op : ops) fused_ops[count++] = Op<A>(op);
  }

  /// Applies the fused operations to results before they are stored.
  template <int kCount>
  __device__ __forceinline__ void finish(A (&x)[kCount]) const {
    for (int i = 0; i < count; ++i) fused_ops[i].unary(x);
  }

  __device__ __forceinline__ void operator()(std::int64_t row, std::int64_t element, A value) const {
    A x[1] = {value};
    finish(x);
    to.store(row, element, x[0]);
  }
};

}  // namespace sepconv::device
