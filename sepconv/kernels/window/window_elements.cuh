// What windows on a device are joined of, where passes read it and where they put it. Private to this folder.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "sepconv/kernels/pointwise/device_op.cuh"
#include "sepconv/kernels/window/window_check.hpp"

namespace sepconv::engine {

/// What windows are joined of, as IntegerElements, OrderedElements and SummedElements are on the CPU.
template <class T>
struct Integers {
  using Element = T;
  using Value = float;
  static constexpr bool kSums = false;
  T flip;
  explicit Integers(const Window& window) : flip(window.op == Window::Op::maximum ? T(~T(0)) : T(0)) {}
  template <class From>
  __device__ __forceinline__ Element of(From x) const {
    return static_cast<T>(static_cast<T>(x) ^ flip);
  }
  __device__ __forceinline__ Value value(Element e) const { return static_cast<T>(e ^ flip); }
  static __device__ __forceinline__ Element join(Element a, Element b) { return a < b ? a : b; }
};

template <class A>
struct Ordered {
  using Element = std::conditional_t<sizeof(A) == 4, int, long long>;
  using Value = A;
  static constexpr bool kSums = false;
  Element flip, nan;
  explicit Ordered(const Window& window)
      : flip(window.op == Window::Op::maximum ? Element(-1) : Element(0)),
        nan(window.ignores_nan ? std::numeric_limits<Element>::max() : std::numeric_limits<Element>::min()) {}
  static __device__ __forceinline__ Element turned(Element bits, Element greatest) {
    return bits < 0 ? bits ^ greatest : bits;
  }
  static __device__ __forceinline__ Element bits_of(float x) { return __float_as_int(x); }
  static __device__ __forceinline__ Element bits_of(double x) { return __double_as_longlong(x); }
  static constexpr Element kGreatest = std::numeric_limits<Element>::max();
  template <class From>
  __device__ __forceinline__ Element of(From from) const {
    const A x = static_cast<A>(from);
    return x != x ? nan : turned(bits_of(x), kGreatest) ^ flip;
  }
  __device__ __forceinline__ Value value(Element e) const {
    const Element bits = turned(e ^ flip, kGreatest);
    if constexpr (sizeof(A) == 4)
      return __int_as_float(bits);
    else
      return __longlong_as_double(bits);
  }
  static __device__ __forceinline__ Element join(Element a, Element b) { return a < b ? a : b; }
};

template <class A>
struct Summed {
  using Element = A;
  using Value = A;
  static constexpr bool kSums = true;
  A unit, divisor;
  Window::Of taken;
  bool ignores_nan;
  explicit Summed(const Window& window)
      : unit(static_cast<A>(window.unit)),
        divisor(static_cast<A>(window.divisor)),
        taken(window.of),
        ignores_nan(window.ignores_nan) {}
  template <class From>
  __host__ __device__ __forceinline__ Element of(From from) const {
    const A x = static_cast<A>(from);
    if (ignores_nan && x != x) return 0;
    return taken == Window::Of::values ? x * unit : taken == Window::Of::squares ? x * x : unit;
  }
  __device__ __forceinline__ Value value(Element e) const { return e / divisor; }
  static __device__ __forceinline__ Element join(Element a, Element b) { return a + b; }
};

/// Elements between the passes, those of `rect` of an image.
template <class E>
struct Plane {
  E* data = nullptr;
  std::int64_t pitch = 0;
};

/// What a pass reads: pixels, or the plane that the other pass has made.
template <class P>
struct Source {
  device::Rows pixels;
  Plane<typename P::Element> plane;
  Rect rect;
  Extent image;
  BorderMode border;
  int channels;
  typename P::Value constant;  ///< beyond a constant border: a pixel, or what the other pass makes of sums
};

/// What it writes: a plane, or the result.
template <class P>
struct Target {
  Plane<typename P::Element> plane;
  device::Store<typename P::Value> store;
  __device__ __forceinline__ void put(const P& policy, std::int64_t row, std::int64_t element,
                                      typename P::Element e) const {
    if (plane.data != nullptr)
      plane.data[row * plane.pitch + element] = e;
    else
      store(row, element, policy.value(e));
  }
};

/// Calls read(load) with what loads the element of a row and an element's number from the plane or the
/// pixels.
template <class P, class Read>
__device__ __forceinline__ void with_loads(const P& policy, const Source<P>& in, const Read& read) {
  if (in.plane.data != nullptr) {
    read([&](std::int64_t row, std::int64_t element) {
      return in.plane.data[row * in.plane.pitch + element];
    });
  } else {
    device::visit(in.pixels.type, [&]<class T>(T) {
      read([&](std::int64_t row, std::int64_t element) {
        return policy.of(in.pixels.template row<const T>(row)[element]);
      });
    });
  }
}

struct Steps {
  int count, levels;
  explicit Steps(const WindowSteps& steps) : count(static_cast<int>(steps.count)), levels(steps.levels) {}
  __device__ __forceinline__ int rest() const { return count - (1 << levels); }
  __device__ __forceinline__ bool has(int k) const { return (count >> k & 1) != 0; }
  __device__ __forceinline__ int after(int k) const { return count & ((1 << k) - 1); }
};

}  // namespace sepconv::engine
