// Results of windows to where they belong: words down a column to pixels or to a plane. Private to this
// folder.
#pragma once

#include "kernels/sliding_window/column_ring.cuh"

namespace sepconv::engine {

/// Element j of a word.
template <class P>
__device__ __forceinline__ typename P::Element element_of(typename P::Word word, int j) {
  if constexpr (P::kPack == 2)
    return static_cast<std::uint16_t>(word >> (16 * j));
  else
    return word;
}

template <class T>
struct __align__(2 * sizeof(T)) TwoPixels {
  T pixel[2];
};

/// Where words down a column go: to rows `row` on, those from `first` to before `last`; of a row the elements
/// from `element` on that are below `all`.
struct ColumnPlace {
  std::int64_t row, first, last, element, all;

  __device__ __forceinline__ int skip() const { return static_cast<int>(max(first - row, std::int64_t{0})); }
  __device__ __forceinline__ int end() const { return static_cast<int>(min(last - row, std::int64_t{64})); }
};

template <int kPack, class T, int kPixels>
__device__ __forceinline__ void put_pixels(const device::Rows& to, const ColumnPlace& place,
                                           const T (&pixel)[kPixels]) {
  const int skip = place.skip(), end = place.end();
  std::byte* const row = reinterpret_cast<std::byte*>(to.template row<T>(place.row) + place.element);
#pragma unroll
  for (int i = 0; i < kPixels / kPack; ++i) {
    if (i < skip || i >= end) continue;
    T* const at = reinterpret_cast<T*>(row + i * to.pitch_bytes);
    if constexpr (kPack == 2) {
      if (place.element + 2 <= place.all && reinterpret_cast<std::uintptr_t>(at) % (2 * sizeof(T)) == 0) {
        *reinterpret_cast<TwoPixels<T>*>(at) = {{pixel[2 * i], pixel[2 * i + 1]}};
        continue;
      }
    }
#pragma unroll
    for (int j = 0; j < kPack; ++j)
      if (place.element + j < place.all) at[j] = pixel[kPack * i + j];
  }
}

/// Pixels that are what they were, of the type that they had.
template <class T, int kCount>
__device__ __forceinline__ void copy_column(const Halves& policy, const device::Rows& to,
                                            const unsigned (&word)[kCount], const ColumnPlace& place) {
  T pixel[2 * kCount];
#pragma unroll
  for (int i = 0; i < 2 * kCount; ++i)
    pixel[i] = static_cast<T>(element_of<Halves>(word[i / 2], i % 2) ^ policy.flip);
  put_pixels<2>(to, place, pixel);
}

template <class P, int kCount>
__device__ __forceinline__ void put_column(const P& policy, const Target<P>& to,
                                           const typename P::Word (&word)[kCount], const ColumnPlace& place) {
  constexpr int kPack = P::kPack;
  if (to.plane.data != nullptr) {
    const int skip = place.skip(), end = place.end();
    auto* const at = to.plane.data + place.row * to.plane.pitch + place.element;
#pragma unroll
    for (int i = 0; i < kCount; ++i)
      if (i >= skip && i < end) *reinterpret_cast<typename P::Word*>(at + i * to.plane.pitch) = word[i];
    return;
  }
  if constexpr (kPack == 2) {
    if (to.store.count == 0 && to.store.to.type == policy.type) {
      if (policy.type == PixelType::u8) return copy_column<std::uint8_t>(policy, to.store.to, word, place);
      return copy_column<std::uint16_t>(policy, to.store.to, word, place);
    }
  }
  typename P::Value x[kPack * kCount];
#pragma unroll
  for (int i = 0; i < kPack * kCount; ++i) x[i] = policy.value(element_of<P>(word[i / kPack], i % kPack));
  to.store.finish(x);
  device::visit(to.store.to.type, [&]<class T>(T) {
    T pixel[kPack * kCount];
#pragma unroll
    for (int i = 0; i < kPack * kCount; ++i) pixel[i] = device::to_pixel<T>(x[i]);
    put_pixels<kPack>(to.store.to, place, pixel);
  });
}

}  // namespace sepconv::engine
