// Loads pixels to rows in registers and stores them, with vectors where alignment permits. Private to this
// folder.
#pragma once

#include "kernels/sliding_window/packed_lanes.cuh"
#include "kernels/sliding_window/row_loads.cuh"

namespace sepconv::engine {

/// kPixels pixels, for one or two vector accesses.
template <class T, int kPixels>
struct __align__(sizeof(T) * kPixels < 16 ? sizeof(T) * kPixels : 16) LanePixels {
  T pixel[kPixels];
};
template <class T>
__device__ __forceinline__ bool is_aligned(const T* at, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(at) % bytes == 0;
}

/// Loads a lane's elements of rows, from `element` on, counted from the first pixel of the source's
/// rectangle; those outside the rectangle are the border's. Rows are fetched before they are needed. All
/// lanes of a warp construct it together.
template <class P>
class LaneLoads {
 public:
  using E = typename P::Element;
  using W = typename P::Word;
  static constexpr int kElements = kLaneElements<P>;

  __device__ __forceinline__ LaneLoads(const P& policy, const Source<P>& in, std::int64_t element)
      : policy_(policy), in_(in) {
    const bool inside = element >= 0 && element + kElements <= in.rect.cols * in.channels;
    bool aligned = false;
    visit_source<P>(in.pixels.type, [&]<class T>(T) {
      constexpr auto kBytes = alignof(LanePixels<T, kElements>);
      at_ = reinterpret_cast<const std::byte*>(in.pixels.template row<const T>(0) + element);
      aligned = (reinterpret_cast<std::uintptr_t>(at_) | static_cast<std::uintptr_t>(in.pixels.pitch_bytes)) %
                    kBytes ==
                0;
    });
    by_vectors_ = __all_sync(0xffffffffu, inside && aligned);
    if (by_vectors_) return;
#pragma unroll
    for (int j = 0; j < kElements; ++j) {
      const std::int64_t from = inside ? element + j : edge_element(in, element + j, in.channels, 1, 0);
      if (from < 0) constants_ |= 1u << j;
      from_[j] = static_cast<int>(max(from, std::int64_t{0}) - element);
    }
    any_constant_ = __any_sync(0xffffffffu, constants_ != 0);
  }

  /// Begins to load the first `count` of 4 rows of the image or its border, from `image_row` on.
  __device__ __forceinline__ void fetch(std::int64_t image_row, int count) {
    has_all_ = count >= kLaneRows && image_row >= 0 && image_row + kLaneRows <= in_.image.rows;
    const std::int64_t first = image_row - in_.rect.row;
#pragma unroll
    for (int r = 0; r < kLaneRows; ++r) {
      row_[r] = static_cast<int>(first) + r;
      if (has_all_) continue;
      row_[r] = kUnused;
      if (r >= count) continue;
      const std::int64_t from = near_border_index(image_row + r, in_.image.rows, in_.border);
      row_[r] = from < 0 ? kUnused : static_cast<int>(from - in_.rect.row);
    }
    visit_source<P>(in_.pixels.type, [&]<class T>(T) {
      if constexpr (kFetches<T>) {
        if (has_all_) {
          const std::byte* at = at_ + first * in_.pixels.pitch_bytes;
#pragma unroll
          for (int r = 0; r < kLaneRows; ++r) {
            reinterpret_cast<LanePixels<T, kElements>&>(raw_[r]) = pixels_at<T>(at);
            at += in_.pixels.pitch_bytes;
          }
        } else {
#pragma unroll
          for (int r = 0; r < kLaneRows; ++r)
            if (row_[r] >= 0)
              reinterpret_cast<LanePixels<T, kElements>&>(raw_[r]) =
                  pixels_at<T>(at_ + row_[r] * in_.pixels.pitch_bytes);
        }
      }
    });
  }

  /// The fetched rows.
  __device__ __forceinline__ LaneRows<P> rows() const {
    LaneRows<P> rows;
    visit_source<P>(in_.pixels.type, [&]<class T>(T) {
#pragma unroll
      for (int r = 0; r < kLaneRows; ++r) {
        LanePixels<T, kElements> pixels{};
        if constexpr (kFetches<T>)
          pixels = reinterpret_cast<const LanePixels<T, kElements>&>(raw_[r]);
        else if (row_[r] >= 0)
          pixels = pixels_at<T>(at_ + row_[r] * in_.pixels.pitch_bytes);
        words_of(pixels, rows.word[r]);
      }
    });
    if (!has_all_ || any_constant_) insert_constants(rows);
    return rows;
  }

 private:
  static constexpr int kUnused = -1;  ///< the border's constant, or an unused row
  struct __align__(16) Raw {
    unsigned word[sizeof(typename P::Value) == 8 ? 8 : 4];
  };
  template <class T>
  static constexpr bool kFetches = sizeof(LanePixels<T, kElements>) <= sizeof(Raw);

  template <class T>
  __device__ __forceinline__ void words_of(const LanePixels<T, kElements>& pixels,
                                           W (&word)[kLaneWords]) const {
    if constexpr (P::kPack == 2) {
      const auto* const bits = reinterpret_cast<const unsigned*>(&pixels);
#pragma unroll
      for (int i = 0; i < kLaneWords; ++i)
        word[i] = (sizeof(T) == 2 ? bits[sizeof(T) == 2 ? i : 0]
                                  : __byte_perm(bits[i / 2], 0, i % 2 == 0 ? 0x4140 : 0x4342)) ^
                  policy_.word_flip();
    } else {
#pragma unroll
      for (int i = 0; i < kLaneWords; ++i) word[i] = policy_.encode(pixels.pixel[i]);
    }
  }
  /// Loads the lane's pixels; `at` is the address that its first element has, or would have.
  template <class T>
  __device__ __forceinline__ LanePixels<T, kElements> pixels_at(const std::byte* at) const {
    using Pixels = LanePixels<T, kElements>;
    if (by_vectors_) return *reinterpret_cast<const Pixels*>(at);
    Pixels pixels;
#pragma unroll
    for (int j = 0; j < kElements; ++j) pixels.pixel[j] = reinterpret_cast<const T*>(at)[from_[j]];
    return pixels;
  }
  __device__ __forceinline__ void insert_constants(LaneRows<P>& rows) const {
    const E constant = in_.constant_of(policy_);
#pragma unroll
    for (int r = 0; r < kLaneRows; ++r)
#pragma unroll
      for (int j = 0; j < kElements; ++j) {
        if (row_[r] >= 0 && (constants_ >> j & 1) == 0) continue;
        auto& word = rows.word[r][j / P::kPack];
        if constexpr (P::kPack == 2)
          word = j % 2 == 0 ? (word & 0xffff0000u) | constant
                            : (word & 0xffffu) | static_cast<unsigned>(constant) << 16;
        else
          word = constant;
      }
  }

  const P& policy_;
  const Source<P>& in_;
  const std::byte* at_ = nullptr;  ///< the lane's first element in the rectangle's first row
  bool by_vectors_, has_all_ = false, any_constant_ = false;
  unsigned constants_ = 0;  ///< a bit for each element that is the border's constant in every row
  int from_[kElements];     ///< offsets from `at_` of elements that are not loaded by vectors
  int row_[kLaneRows];
  Raw raw_[kLaneRows];
};

/// Destination of a lane's results: rows from `row` on within [first, last), and elements from `element` on
/// below `row_elements`.
struct LaneTarget {
  std::int64_t row, first, last, element, row_elements;
};

template <class P, class T, int kPixels>
__device__ __forceinline__ void store_lane_pixels(const device::Rows& to, const LaneTarget& target,
                                                  const T (&pixel)[kPixels]) {
  constexpr int kElements = kLaneElements<P>, kRows = kPixels / kElements;
  using Pixels = LanePixels<T, kElements>;
  std::byte* at = reinterpret_cast<std::byte*>(to.template row<T>(target.row) + target.element);
  const bool aligned = (reinterpret_cast<std::uintptr_t>(at) | static_cast<std::uintptr_t>(to.pitch_bytes)) %
                           alignof(Pixels) ==
                       0;
  if (aligned && target.row >= target.first && target.row + kRows <= target.last &&
      target.element + kElements <= target.row_elements) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      Pixels pixels;
#pragma unroll
      for (int j = 0; j < kElements; ++j) pixels.pixel[j] = pixel[r * kElements + j];
      *reinterpret_cast<Pixels*>(at) = pixels;
      at += to.pitch_bytes;
    }
    return;
  }
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    if (target.row + r >= target.first && target.row + r < target.last) {
#pragma unroll
      for (int j = 0; j < kElements; ++j)
        if (target.element + j < target.row_elements) reinterpret_cast<T*>(at)[j] = pixel[r * kElements + j];
    }
    at += to.pitch_bytes;
  }
}

/// Stores results of the source's type without conversion.
template <class T>
__device__ __forceinline__ void copy_lane(const Packed16& policy, const device::Rows& to,
                                          const LaneRows<Packed16>& rows, const LaneTarget& target) {
  constexpr int kWords = kLaneRows * kLaneWords;
  unsigned bits[kWords * sizeof(T) / 2];
#pragma unroll
  for (int i = 0; i < kWords; i += 2) {
    const unsigned low = rows.word[i / kLaneWords][i % kLaneWords] ^ policy.word_flip();
    const unsigned high = rows.word[i / kLaneWords][i % kLaneWords + 1] ^ policy.word_flip();
    if constexpr (sizeof(T) == 1)
      bits[i / 2] = __byte_perm(low, high, 0x6420);
    else
      bits[i] = low, bits[i + 1] = high;
  }
  store_lane_pixels<Packed16>(to, target,
                              reinterpret_cast<const T(&)[kLaneRows * kLaneElements<Packed16>]>(bits));
}

template <class P>
__device__ __forceinline__ void store_lane(const P& policy, const Target<P>& to, const LaneRows<P>& rows,
                                           const LaneTarget& target) {
  constexpr int kElements = kLaneElements<P>, kPack = P::kPack;
  if constexpr (kPack == 2) {
    if (to.store.count == 0 && to.store.to.type == policy.type) {
      if (policy.type == PixelType::u8) return copy_lane<std::uint8_t>(policy, to.store.to, rows, target);
      return copy_lane<std::uint16_t>(policy, to.store.to, rows, target);
    }
  }
  // 16 elements at a time.
  constexpr int kRows = kLaneRows / kPack;
#pragma unroll
  for (int first = 0; first < kLaneRows; first += kRows) {
    typename P::Value x[kRows * kElements];
#pragma unroll
    for (int i = 0; i < kRows * kElements; ++i) {
      const auto word = rows.word[first + i / kElements][i % kElements / kPack];
      if constexpr (kPack == 2)
        x[i] = policy.value(static_cast<std::uint16_t>(word >> (i % 2 * 16)));
      else
        x[i] = policy.value(word);
    }
    to.store.finish(x);
    LaneTarget at = target;
    at.row += first;
    device::visit(to.store.to.type, [&]<class T>(T) {
      T pixel[kRows * kElements];
#pragma unroll
      for (int i = 0; i < kRows * kElements; ++i) pixel[i] = device::to_pixel<T>(x[i]);
      store_lane_pixels<P>(to.store.to, at, pixel);
    });
  }
}

}  // namespace sepconv::engine
