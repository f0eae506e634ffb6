#include "kernels/simd/rows.hpp"

#include "kernels/simd/dispatch.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/simd/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {

template <class A, class T>
void load_row(const std::byte* bytes, std::int64_t count, A* to) {
  const hn::ScalableTag<A> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const T* const from = reinterpret_cast<const T*>(bytes);
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(load_vector(d, from + i), d, to + i);
  for (; i < count; ++i) to[i] = to_arithmetic<A>(from[i]);
}

template <class A, class T>
void store_row(const A* from, std::int64_t count, std::byte* bytes) {
  const hn::ScalableTag<A> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  T* const to = reinterpret_cast<T*>(bytes);
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) store_vector(d, hn::LoadU(d, from + i), to + i);
  for (; i < count; ++i) to[i] = to_pixel<T>(from[i]);
}

template <class A>
LoadRow<A> find_load_row(PixelType from) {
  return visit_pixel_type(from, []<class T>(std::type_identity<T>) -> LoadRow<A> { return load_row<A, T>; });
}
template <class A>
StoreRow<A> find_store_row(PixelType to) {
  return visit_pixel_type(to, []<class T>(std::type_identity<T>) -> StoreRow<A> { return store_row<A, T>; });
}

LoadRow<float> load_row_f32(PixelType from) { return find_load_row<float>(from); }
LoadRow<double> load_row_f64(PixelType from) { return find_load_row<double>(from); }
StoreRow<float> store_row_f32(PixelType to) { return find_store_row<float>(to); }
StoreRow<double> store_row_f64(PixelType to) { return find_store_row<double>(to); }

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sepconv {

HWY_EXPORT(load_row_f32);
HWY_EXPORT(load_row_f64);
HWY_EXPORT(store_row_f32);
HWY_EXPORT(store_row_f64);

template <>
LoadRow<float> load_row_for(PixelType from) {
  return HWY_DYNAMIC_DISPATCH(load_row_f32)(from);
}
template <>
LoadRow<double> load_row_for(PixelType from) {
  return HWY_DYNAMIC_DISPATCH(load_row_f64)(from);
}
template <>
StoreRow<float> store_row_for(PixelType to) {
  return HWY_DYNAMIC_DISPATCH(store_row_f32)(to);
}
template <>
StoreRow<double> store_row_for(PixelType to) {
  return HWY_DYNAMIC_DISPATCH(store_row_f64)(to);
}

}  // namespace sepconv
#endif
