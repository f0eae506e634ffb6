#include "kernels/pointwise/element_op.hpp"
#include "kernels/pointwise/pointwise.hpp"
#include "kernels/pointwise/pointwise_check.hpp"
#include "kernels/simd/dispatch.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/pointwise/pointwise_host.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/simd/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {

/// ElementOp of one kind, for one vector.
template <PointwiseOp::Kind kKind, class D, class A = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> apply(D d, const ElementOp<A>& op, hn::Vec<D> a, hn::Vec<D> b) {
  using Kind = PointwiseOp::Kind;
  const auto p = hn::Set(d, op.p);
  const auto q = hn::Set(d, op.q);
  if constexpr (kKind == Kind::scale) return fused_multiply_add(a, p, q);
  if constexpr (kKind == Kind::clamp) {  // not Min and Max: they differ between processors for NaN and -0
    const auto raised = hn::IfThenElse(hn::Lt(a, p), p, a);
    return hn::IfThenElse(hn::Gt(raised, q), q, raised);
  }
  if constexpr (kKind == Kind::absolute) return hn::Abs(a);
  if constexpr (kKind == Kind::threshold) return hn::IfThenElse(hn::Gt(a, p), q, hn::Set(d, op.r));
  const auto missing = hn::Set(d, op.kMissing);
  const auto zero = hn::Zero(d);
  if constexpr (kKind == Kind::mark_missing) return hn::IfThenElse(hn::Eq(a, p), missing, a);
  if constexpr (kKind == Kind::zero_missing) return hn::IfThenElse(hn::IsNaN(a), zero, a);
  if constexpr (kKind == Kind::weight) return hn::IfThenElse(hn::IsNaN(a), zero, hn::Set(d, A(1)));
  if constexpr (kKind == Kind::keep_missing) return hn::IfThenElse(hn::IsNaN(a), missing, b);
  if constexpr (kKind == Kind::fill_missing) return hn::IfThenElse(hn::IsNaN(a), b, a);
  if constexpr (kKind == Kind::keep_equal) return hn::IfThenElse(hn::Eq(b, p), a, missing);
  if constexpr (kKind == Kind::quotient) return hn::Div(a, b);
  if constexpr (kKind == Kind::product) return hn::Mul(a, b);
  // Not Min and Max, as above.
  if constexpr (kKind == Kind::lesser) return hn::IfThenElse(hn::Lt(b, a), b, a);
  if constexpr (kKind == Kind::greater) return hn::IfThenElse(hn::Gt(b, a), b, a);
  if constexpr (kKind == Kind::mix) return fused_multiply_add(a, p, hn::Mul(b, q));
  if constexpr (kKind == Kind::renormalise) {
    const auto grown = hn::IfThenElse(hn::Gt(b, zero), hn::Mul(a, hn::Div(p, b)), missing);
    return hn::IfThenElse(hn::Or(hn::Eq(b, p), hn::IsNaN(a)), a, grown);
  }
  if constexpr (kKind == Kind::magnitude) return hn::Sqrt(fused_multiply_add(a, a, hn::Mul(b, b)));
  if constexpr (kKind == Kind::sum) return hn::Add(a, b);
  if constexpr (kKind == Kind::difference) return hn::Sub(a, b);
  if constexpr (kKind == Kind::unsharp) {
    const auto detail = hn::Sub(a, b);
    return hn::IfThenElse(hn::Ge(hn::Abs(detail), q), fused_multiply_add(p, detail, a), a);
  }
  return a;
}

/// Number of elements that are converted, computed and converted back in one step, in buffers on the stack.
constexpr std::int64_t kChunk = 512;

/// Computes `count` elements, at most kChunk, of arrays of whole vectors with element alignment. `to` may be
/// `a` or `b`.
template <class A>
using ChunkOp = void (*)(const ElementOp<A>& op, const A* a, const A* b, std::int64_t count, A* to);

template <class A, PointwiseOp::Kind kKind>
void apply_chunk(const ElementOp<A>& op, const A* a, const A* b, std::int64_t count, A* to) {
  const hn::ScalableTag<A> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t i = 0; i < count; i += lanes) {
    const auto x = hn::LoadU(d, a + i);
    const auto y = hn::LoadU(d, b + i);
    auto result = apply<kKind>(d, op, x, y);
    if (op.propagates_nodata)
      result = hn::IfThenElse(hn::Or(hn::IsNaN(x), hn::IsNaN(y)), hn::Set(d, op.kMissing), result);
    hn::StoreU(result, d, to + i);
  }
}

/// For round_to and store_missing.
template <class A, class T>
void round_chunk(const ElementOp<A>& op, const A* a, const A*, std::int64_t count, A* to) {
  const hn::ScalableTag<A> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const bool stores = op.kind == PointwiseOp::Kind::store_missing;
  const auto p = hn::Set(d, op.p);
  for (std::int64_t i = 0; i < count; i += lanes) {
    const auto x = hn::LoadU(d, a + i);
    auto result = round_to<T>(d, x);
    if (stores)
      result = hn::IfThenElse(hn::IsNaN(x), p, hn::IfThenElse(hn::Eq(result, p), hn::Set(d, op.q), result));
    if (op.propagates_nodata) result = hn::IfThenElse(hn::IsNaN(x), hn::Set(d, op.kMissing), result);
    hn::StoreU(result, d, to + i);
  }
}

template <class A>
ChunkOp<A> chunk_op_for(const ElementOp<A>& op) {
  using Kind = PointwiseOp::Kind;
  switch (op.kind) {
    case Kind::copy:
      break;
    case Kind::scale:
      return apply_chunk<A, Kind::scale>;
    case Kind::clamp:
      return apply_chunk<A, Kind::clamp>;
    case Kind::absolute:
      return apply_chunk<A, Kind::absolute>;
    case Kind::threshold:
      return apply_chunk<A, Kind::threshold>;
    case Kind::mark_missing:
      return apply_chunk<A, Kind::mark_missing>;
    case Kind::zero_missing:
      return apply_chunk<A, Kind::zero_missing>;
    case Kind::weight:
      return apply_chunk<A, Kind::weight>;
    case Kind::round_to:
    case Kind::store_missing:
      return visit_pixel_type(op.type,
                              []<class T>(std::type_identity<T>) -> ChunkOp<A> { return round_chunk<A, T>; });
    case Kind::magnitude:
      return apply_chunk<A, Kind::magnitude>;
    case Kind::sum:
      return apply_chunk<A, Kind::sum>;
    case Kind::difference:
      return apply_chunk<A, Kind::difference>;
    case Kind::unsharp:
      return apply_chunk<A, Kind::unsharp>;
    case Kind::keep_missing:
      return apply_chunk<A, Kind::keep_missing>;
    case Kind::fill_missing:
      return apply_chunk<A, Kind::fill_missing>;
    case Kind::keep_equal:
      return apply_chunk<A, Kind::keep_equal>;
    case Kind::quotient:
      return apply_chunk<A, Kind::quotient>;
    case Kind::product:
      return apply_chunk<A, Kind::product>;
    case Kind::lesser:
      return apply_chunk<A, Kind::lesser>;
    case Kind::greater:
      return apply_chunk<A, Kind::greater>;
    case Kind::mix:
      return apply_chunk<A, Kind::mix>;
    case Kind::renormalise:
      return apply_chunk<A, Kind::renormalise>;
  }
  return apply_chunk<A, Kind::copy>;
}

/// Whether a chunk is computed in place: it has the arithmetic type and consists of whole vectors.
template <class A>
bool is_whole(const ConstPixelView& view, std::int64_t count) {
  return count == kChunk && view.type == pixel_type_of<A>();
}

template <class A>
void pointwise(const PointwiseOp& pointwise_op, const ConstPixelView& a, const ConstPixelView& b,
               const PixelView& out) {
  const ElementOp<A> op(pointwise_op);
  const ChunkOp<A> compute = chunk_op_for(op);
  const LoadRow<A> load_a = load_row_for<A>(a.type);
  const LoadRow<A> load_b = load_row_for<A>(pointwise_op.binary() ? b.type : a.type);
  const StoreRow<A> store = store_row_for<A>(out.type);
  alignas(64) A first[kChunk] = {};
  alignas(64) A second[kChunk] = {};
  const auto loaded = [](const ConstPixelView& from, LoadRow<A> load, std::int64_t row, std::int64_t i,
                         std::int64_t count, A* buffer) -> const A* {
    const std::byte* const pixels = from.row_data(row) + i * size_of(from.type);
    if (is_whole<A>(from, count)) return reinterpret_cast<const A*>(pixels);
    load(pixels, count, buffer);
    return buffer;
  };
  for (std::int64_t row = 0; row < out.extent.rows; ++row) {
    for (std::int64_t i = 0; i < out.row_elements(); i += kChunk) {
      const std::int64_t count = std::min(kChunk, out.row_elements() - i);
      const A* const x = loaded(a, load_a, row, i, count, first);
      const A* const y = pointwise_op.binary() ? loaded(b, load_b, row, i, count, second) : second;
      std::byte* const pixels = out.row_data(row) + i * size_of(out.type);
      if (is_whole<A>(out, count)) {
        compute(op, x, y, count, reinterpret_cast<A*>(pixels));
      } else {
        compute(op, x, y, count, first);
        store(first, count, pixels);
      }
    }
  }
}

void pointwise_f32(const PointwiseOp& op, const ConstPixelView& a, const ConstPixelView& b,
                   const PixelView& out) {
  pointwise<float>(op, a, b, out);
}
void pointwise_f64(const PointwiseOp& op, const ConstPixelView& a, const ConstPixelView& b,
                   const PixelView& out) {
  pointwise<double>(op, a, b, out);
}

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sepconv {

HWY_EXPORT(pointwise_f32);
HWY_EXPORT(pointwise_f64);

void pointwise_host(const PointwiseOp& op, const ConstPixelView& a, const ConstPixelView& b,
                    const PixelView& out, Arithmetic arithmetic) {
  check_pointwise(op, a, b, out);
  if (arithmetic == Arithmetic::f64) {
    HWY_DYNAMIC_DISPATCH(pointwise_f64)(op, a, b, out);
  } else {
    HWY_DYNAMIC_DISPATCH(pointwise_f32)(op, a, b, out);
  }
}

}  // namespace sepconv
#endif
