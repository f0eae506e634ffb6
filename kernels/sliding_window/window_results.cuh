// Stores results of windows: words down a column to pixels or to a plane. Private to this folder.
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

/// Destination of words down a column: rows from `row` on within [first, last), and elements from `element`
/// on below `row_elements`.
struct ColumnTarget {
  std::int64_t row, first, last, element, row_elements;

  __device__ __forceinline__ int skip() const { return static_cast<int>(max(first - row, std::int64_t{0})); }
  __device__ __forceinline__ int end() const { return static_cast<int>(min(last - row, std::int64_t{64})); }
};

template <int kPack, class T, int kPixels>
__device__ __forceinline__ void store_pixels(const device::Rows& to, const ColumnTarget& target,
                                             const T (&pixel)[kPixels]) {
  const int skip = target.skip(), end = target.end();
  std::byte* const row = reinterpret_cast<std::byte*>(to.template row<T>(target.row) + target.element);
#pragma unroll
  for (int i = 0; i < kPixels / kPack; ++i) {
    if (i < skip || i >= end) continue;
    T* const at = reinterpret_cast<T*>(row + i * to.pitch_bytes);
    if constexpr (kPack == 2) {
      if (target.element + 2 <= target.row_elements &&
          reinterpret_cast<std::uintptr_t>(at) % (2 * sizeof(T)) == 0) {
        *reinterpret_cast<TwoPixels<T>*>(at) = {{pixel[2 * i], pixel[2 * i + 1]}};
        continue;
      }
    }
#pragma unroll
    for (int j = 0; j < kPack; ++j)
      if (target.element + j < target.row_elements) at[j] = pixel[kPack * i + j];
  }
}

/// Stores results of the source's type without conversion.
template <class T, int kCount>
__device__ __forceinline__ void copy_column(const Packed16& policy, const device::Rows& to,
                                            const unsigned (&word)[kCount], const ColumnTarget& target) {
  T pixel[2 * kCount];
#pragma unroll
  for (int i = 0; i < 2 * kCount; ++i)
    pixel[i] = static_cast<T>(element_of<Packed16>(word[i / 2], i % 2) ^ policy.flip);
  store_pixels<2>(to, target, pixel);
}

template <class P, int kCount>
__device__ __forceinline__ void store_column(const P& policy, const Target<P>& to,
                                             const typename P::Word (&word)[kCount],
                                             const ColumnTarget& target) {
  constexpr int kPack = P::kPack;
  if (to.plane.data != nullptr) {
    const int skip = target.skip(), end = target.end();
    auto* const at = to.plane.data + target.row * to.plane.pitch + target.element;
#pragma unroll
    for (int i = 0; i < kCount; ++i)
      if (i >= skip && i < end) *reinterpret_cast<typename P::Word*>(at + i * to.plane.pitch) = word[i];
    return;
  }
  if constexpr (kPack == 2) {
    if (to.store.count == 0 && to.store.to.type == policy.type) {
      if (policy.type == PixelType::u8) return copy_column<std::uint8_t>(policy, to.store.to, word, target);
      return copy_column<std::uint16_t>(policy, to.store.to, word, target);
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
    store_pixels<kPack>(to.store.to, target, pixel);
  });
}

}  // namespace sepconv::engine
