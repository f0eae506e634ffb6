// Loads rows of pixels to shared memory, by aligned vectors of 4 inside the image. Private to this folder.
#pragma once

#include "kernels/sliding_window/row_windows.cuh"

namespace sepconv::engine {

/// Elements of a row that are loaded: all channels interleaved, with windows of `stride`, or only those of
/// `channel`, which are `jump` apart.
struct RowLayout {
  int stride, jump, channel;
};

template <class T>
struct __align__(sizeof(T) < 4 ? 4 * sizeof(T) : 16) FourPixels {
  T pixel[4];
};

/// Calls the visitor with the pixel type, one of those that P supports.
template <class P, class Visitor>
__device__ __forceinline__ void visit_source(PixelType type, const Visitor& visitor) {
  if constexpr (P::kPack == 2) {
    if (type == PixelType::u8) return visitor(std::uint8_t{});
    if (type == PixelType::u16) return visitor(std::uint16_t{});
    return visitor(std::int16_t{});
  } else {
    device::visit(type, visitor);
  }
}

/// Index in a row of the source's rectangle of an element that may be outside the image; -1 for the constant
/// border. The rectangle contains all needed elements; others map to any of its elements.
template <class P>
__device__ __noinline__ std::int64_t edge_element(const Source<P>& in, std::int64_t element, int stride,
                                                  int jump, int channel) {
  std::int64_t pixel = element;
  if (stride > 1) {
    pixel = (element >= 0 ? element : element - stride + 1) / stride;
    channel = static_cast<int>(element - pixel * stride);
  }
  const std::int64_t col = near_border_index(in.rect.col + pixel, in.image.cols, in.border);
  if (col < 0) return -1;
  return min(max(col - in.rect.col, std::int64_t{0}), in.rect.cols - 1) * (stride * jump) + channel;
}

/// Loads elements [begin, begin + count) of rows, counted from the first pixel of the source's rectangle;
/// those outside are the border's. Each thread buffers kVectors vectors of 4 between fetch() and store().
template <class P, int kVectors, class ThreadGroup>
class RowLoads {
 public:
  using E = typename P::Element;

  __device__ __forceinline__ RowLoads(const P& policy, const Source<P>& in, const RowLayout& layout,
                                      const ThreadGroup& thread_group, std::int64_t begin, int count)
      : policy_(policy), in_(in), layout_(layout), thread_group_(thread_group), begin_(begin), count_(count) {
    length_ = in.rect.cols * in.channels;
  }

  /// Begins row `image_row` of the image or its border.
  __device__ __forceinline__ void begin_row(std::int64_t image_row) {
    const std::int64_t row = near_border_index(image_row, in_.image.rows, in_.border);
    row_ = row < 0 ? -1 : row - in_.rect.row;
    shift_ = 0;
    if (layout_.jump == 1 && row_ >= 0)
      visit_source<P>(in_.pixels.type, [&]<class T>(T) {
        const auto address = reinterpret_cast<std::uintptr_t>(in_.pixels.template row<const T>(row_));
        shift_ = static_cast<int>((address / sizeof(T) + static_cast<std::uintptr_t>(begin_)) & 3);
      });
    vectors_ = (shift_ + count_ + 3) / 4;
  }
  /// Offset of the first element in the output of store().
  __device__ __forceinline__ int shift() const { return shift_; }
  __device__ __forceinline__ int vectors() const { return vectors_; }

  /// Begins to load vectors from `first` on.
  __device__ __forceinline__ void fetch(int first) {
    if (row_ < 0 || layout_.jump > 1) return;
    visit_source<P>(in_.pixels.type, [&]<class T>(T) {
      if constexpr (kFetches<T>) {
        const T* const row = in_.pixels.template row<const T>(row_);
#pragma unroll
        for (int i = 0; i < kVectors; ++i) {
          const int v = first + thread_group_.thread + i * thread_group_.size();
          if (is_inside(v)) reinterpret_cast<FourPixels<T>&>(raw_[i]) = four_of(row, v);
        }
      }
    });
  }

  __device__ __forceinline__ void store(int first, E* to) const {
    if (row_ < 0) return store_constant(first, to);
    visit_source<P>(in_.pixels.type, [&]<class T>(T) {
      const T* const row = in_.pixels.template row<const T>(row_);
#pragma unroll
      for (int i = 0; i < kVectors; ++i) {
        const int v = first + thread_group_.thread + i * thread_group_.size();
        if (v >= vectors_) break;
        if (layout_.jump > 1 || !is_inside(v)) {
          store_edge(row, v, to);
          continue;
        }
        FourPixels<T> four;
        if constexpr (kFetches<T>)
          four = reinterpret_cast<const FourPixels<T>&>(raw_[i]);
        else
          four = four_of(row, v);
        store_four(four, to + 4 * v);
      }
    });
  }

 private:
  struct __align__(16) Raw {
    unsigned word[sizeof(typename P::Value) == 8 ? 8 : 4 / P::kPack];
  };
  template <class T>
  static constexpr bool kFetches = sizeof(FourPixels<T>) <= sizeof(Raw);

  __device__ __forceinline__ bool is_inside(int v) const {
    const std::int64_t element = begin_ - shift_ + 4 * v;
    return v < vectors_ && element >= 0 && element + 4 <= length_;
  }
  template <class T>
  __device__ __forceinline__ FourPixels<T> four_of(const T* row, int v) const {
    return *reinterpret_cast<const FourPixels<T>*>(row + (begin_ - shift_ + 4 * v));
  }
  template <class T>
  __device__ __forceinline__ void store_edge(const T* row, int v, E* to) const {
    std::int64_t from[4];
    T pixel[4];
#pragma unroll
    for (int j = 0; j < 4; ++j)
      from[j] = edge_element(in_, begin_ - shift_ + 4 * v + j, layout_.stride, layout_.jump, layout_.channel);
#pragma unroll
    for (int j = 0; j < 4; ++j) pixel[j] = row[from[j] < 0 ? 0 : from[j]];
#pragma unroll
    for (int j = 0; j < 4; ++j)
      to[4 * v + j] = from[j] < 0 ? in_.constant_of(policy_) : policy_.encode(pixel[j]);
  }
  template <class T>
  __device__ __forceinline__ void store_four(const FourPixels<T>& four, E* to) const {
    FourPixels<E> elements;
#pragma unroll
    for (int j = 0; j < 4; ++j) elements.pixel[j] = policy_.encode(four.pixel[j]);
    *reinterpret_cast<FourPixels<E>*>(to) = elements;
  }
  __device__ __forceinline__ void store_constant(int first, E* to) const {
    const E constant = in_.constant_of(policy_);
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      const int v = first + thread_group_.thread + i * thread_group_.size();
      if (v < vectors_)
        for (int j = 0; j < 4; ++j) to[4 * v + j] = constant;
    }
  }

  const P& policy_;
  const Source<P>& in_;
  RowLayout layout_;
  ThreadGroup thread_group_;
  std::int64_t begin_, length_, row_ = -1;
  int count_, shift_ = 0, vectors_ = 0;
  Raw raw_[kVectors];
};

}  // namespace sepconv::engine
