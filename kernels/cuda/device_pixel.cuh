// Elements of any pixel type on the device, loaded to and stored from the arithmetic type: the same as
// to_arithmetic and to_pixel of simd/rows.hpp, for .cu files.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "core/image.hpp"

namespace sepconv::device {

__device__ __forceinline__ float fused_multiply_add(float a, float b, float c) { return __fmaf_rn(a, b, c); }
__device__ __forceinline__ double fused_multiply_add(double a, double b, double c) {
  return __fma_rn(a, b, c);
}
__device__ __forceinline__ float square_root(float x) { return __fsqrt_rn(x); }
__device__ __forceinline__ double square_root(double x) { return __dsqrt_rn(x); }
/// Rounds half to even and saturates; NaN becomes 0. For f32 this is one conversion instruction of the GPU
/// (PTX ISA, cvt).
template <class T, class A>
__device__ __forceinline__ T to_pixel(A x) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(x);
  } else {
    int value = 0;
    if constexpr (sizeof(A) == 8) {
      if (x != x) return 0;
    }
    if constexpr (std::is_same_v<T, std::uint8_t>) {
      if constexpr (sizeof(A) == 4)
        asm("cvt.rni.sat.u8.f32 %0, %1;" : "=r"(value) : "f"(x));
      else
        asm("cvt.rni.sat.u8.f64 %0, %1;" : "=r"(value) : "d"(x));
    } else if constexpr (std::is_same_v<T, std::uint16_t>) {
      if constexpr (sizeof(A) == 4)
        asm("cvt.rni.sat.u16.f32 %0, %1;" : "=r"(value) : "f"(x));
      else
        asm("cvt.rni.sat.u16.f64 %0, %1;" : "=r"(value) : "d"(x));
    } else {
      if constexpr (sizeof(A) == 4)
        asm("cvt.rni.sat.s16.f32 %0, %1;" : "=r"(value) : "f"(x));
      else
        asm("cvt.rni.sat.s16.f64 %0, %1;" : "=r"(value) : "d"(x));
    }
    return static_cast<T>(value);
  }
}

/// visit_pixel_type on the device. The type is the same for a whole launch, so the branch never diverges;
/// still, call it outside loops.
template <class Visitor>
__device__ __forceinline__ void visit(PixelType type, const Visitor& visitor) {
  switch (type) {
    case PixelType::u8:
      return visitor(std::uint8_t{});
    case PixelType::u16:
      return visitor(std::uint16_t{});
    case PixelType::i16:
      return visitor(std::int16_t{});
    case PixelType::f32:
      return visitor(float{});
    case PixelType::f64:
      return visitor(double{});
  }
}

/// A ConstPixelView or PixelView without its extent, as a kernel parameter.
struct Rows {
  std::byte* data = nullptr;
  std::int64_t pitch_bytes = 0;
  PixelType type = PixelType::f32;

  Rows() = default;
  explicit Rows(const ConstPixelView& view)
      : data(const_cast<std::byte*>(view.data)), pitch_bytes(view.pitch_bytes), type(view.type) {}

  template <class T>
  __device__ __forceinline__ T* row(std::int64_t index) const {
    return reinterpret_cast<T*>(data + index * pitch_bytes);
  }
  template <class A>
  __device__ __forceinline__ A load(std::int64_t index, std::int64_t element) const {
    A value{};
    visit(type, [&]<class T>(T) { value = static_cast<A>(this->template row<const T>(index)[element]); });
    return value;
  }
  template <class A>
  __device__ __forceinline__ void store(std::int64_t index, std::int64_t element, A x) const {
    visit(type, [&]<class T>(T) { row<T>(index)[element] = to_pixel<T>(x); });
  }
};

}  // namespace sepconv::device
