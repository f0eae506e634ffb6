// From pixels to rows in registers and back, by vectors wherever an image lets it. Private to this folder.
#pragma once

#include "kernels/sliding_window/packed_lanes.cuh"
#include "kernels/sliding_window/row_loads.cuh"

namespace sepconv::engine {

/// This many pixels in one access, or in two.
template <class T, int kPixels>
struct __align__(sizeof(T) * kPixels < 16 ? sizeof(T) * kPixels : 16) LanePixels {
  T pixel[kPixels];
};
template <class T>
__device__ __forceinline__ bool is_aligned(const T* at, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(at) % bytes == 0;
}

/// What a lane has of rows: the elements from `element` on, counted from the first pixel of the source's
/// rectangle; those before it and behind its end are the border's. Rows are fetched before they are needed.
/// The lanes of a warp are made at once.
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

  /// Begins to read the first `some` of the 4 rows of the image, or of its border, from `image_row` on.
  __device__ __forceinline__ void fetch(std::int64_t image_row, int some) {
    has_all_ = some >= kLaneRows && image_row >= 0 && image_row + kLaneRows <= in_.image.rows;
    const std::int64_t first = image_row - in_.rect.row;
#pragma unroll
    for (int r = 0; r < kLaneRows; ++r) {
      row_[r] = static_cast<int>(first) + r;
      if (has_all_) continue;
      row_[r] = kNone;
      if (r >= some) continue;
      const std::int64_t from = near_border_index(image_row + r, in_.image.rows, in_.border);
      row_[r] = from < 0 ? kNone : static_cast<int>(from - in_.rect.row);
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

  /// Those rows.
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
    if (!has_all_ || any_constant_) put_constants(rows);
    return rows;
  }

 private:
  static constexpr int kNone = -1;  ///< the border's constant, or a row that nobody needs
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
                  policy_.flips();
    } else {
#pragma unroll
      for (int i = 0; i < kLaneWords; ++i) word[i] = policy_.of(pixels.pixel[i]);
    }
  }
  /// For the row that has the lane's first element, or would, at `at`.
  template <class T>
  __device__ __forceinline__ LanePixels<T, kElements> pixels_at(const std::byte* at) const {
    using Pixels = LanePixels<T, kElements>;
    if (by_vectors_) return *reinterpret_cast<const Pixels*>(at);
    Pixels pixels;
#pragma unroll
    for (int j = 0; j < kElements; ++j) pixels.pixel[j] = reinterpret_cast<const T*>(at)[from_[j]];
    return pixels;
  }
  __device__ __forceinline__ void put_constants(LaneRows<P>& rows) const {
    const E own = in_.constant_of(policy_);
#pragma unroll
    for (int r = 0; r < kLaneRows; ++r)
#pragma unroll
      for (int j = 0; j < kElements; ++j) {
        if (row_[r] >= 0 && (constants_ >> j & 1) == 0) continue;
        auto& word = rows.word[r][j / P::kPack];
        if constexpr (P::kPack == 2)
          word =
              j % 2 == 0 ? (word & 0xffff0000u) | own : (word & 0xffffu) | static_cast<unsigned>(own) << 16;
        else
          word = own;
      }
  }

  const P& policy_;
  const Source<P>& in_;
  const std::byte* at_ = nullptr;  ///< the first element of the rectangle's first row
  bool by_vectors_, has_all_ = false, any_constant_ = false;
  unsigned constants_ = 0;  ///< a bit for each element that is the border's constant in every row
  int from_[kElements];     ///< how far from there elements are that are not read by vectors
  int row_[kLaneRows];
  Raw raw_[kLaneRows];
};

/// Where a lane's results go: to rows `row` on, those from `first` to before `last`; of a row the elements
/// from `element` on that are below `all`.
struct LanePlace {
  std::int64_t row, first, last, element, all;
};

template <class P, class T, int kPixels>
__device__ __forceinline__ void put_lane_pixels(const device::Rows& to, const LanePlace& place,
                                                const T (&pixel)[kPixels]) {
  constexpr int kElements = kLaneElements<P>, kRows = kPixels / kElements;
  using Pixels = LanePixels<T, kElements>;
  std::byte* at = reinterpret_cast<std::byte*>(to.template row<T>(place.row) + place.element);
  const bool aligned = (reinterpret_cast<std::uintptr_t>(at) | static_cast<std::uintptr_t>(to.pitch_bytes)) %
                           alignof(Pixels) ==
                       0;
  if (aligned && place.row >= place.first && place.row + kRows <= place.last &&
      place.element + kElements <= place.all) {
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
    if (place.row + r >= place.first && place.row + r < place.last) {
#pragma unroll
      for (int j = 0; j < kElements; ++j)
        if (place.element + j < place.all) reinterpret_cast<T*>(at)[j] = pixel[r * kElements + j];
    }
    at += to.pitch_bytes;
  }
}

/// Pixels that are what they were, of the type that they had.
template <class T>
__device__ __forceinline__ void copy_lane(const Halves& policy, const device::Rows& to,
                                          const LaneRows<Halves>& rows, const LanePlace& place) {
  constexpr int kWords = kLaneRows * kLaneWords;
  unsigned bits[kWords * sizeof(T) / 2];
#pragma unroll
  for (int i = 0; i < kWords; i += 2) {
    const unsigned low = rows.word[i / kLaneWords][i % kLaneWords] ^ policy.flips();
    const unsigned high = rows.word[i / kLaneWords][i % kLaneWords + 1] ^ policy.flips();
    if constexpr (sizeof(T) == 1)
      bits[i / 2] = __byte_perm(low, high, 0x6420);
    else
      bits[i] = low, bits[i + 1] = high;
  }
  put_lane_pixels<Halves>(to, place, reinterpret_cast<const T(&)[kLaneRows * kLaneElements<Halves>]>(bits));
}

template <class P>
__device__ __forceinline__ void put_lane(const P& policy, const Target<P>& to, const LaneRows<P>& rows,
                                         const LanePlace& place) {
  constexpr int kElements = kLaneElements<P>, kPack = P::kPack;
  if constexpr (kPack == 2) {
    if (to.store.count == 0 && to.store.to.type == policy.type) {
      if (policy.type == PixelType::u8) return copy_lane<std::uint8_t>(policy, to.store.to, rows, place);
      return copy_lane<std::uint16_t>(policy, to.store.to, rows, place);
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
    LanePlace at = place;
    at.row += first;
    device::visit(to.store.to.type, [&]<class T>(T) {
      T pixel[kRows * kElements];
#pragma unroll
      for (int i = 0; i < kRows * kElements; ++i) pixel[i] = device::to_pixel<T>(x[i]);
      put_lane_pixels<P>(to.store.to, at, pixel);
    });
  }
}

}  // namespace sepconv::engine
