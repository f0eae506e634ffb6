// Blocks of both operands are converted to the arithmetic type and packed. Six rows by two vectors of the
// result are summed in registers over a block of k; the sums are stored in scratch memory for the next block,
// which continues in the same order.
#include "kernels/gemm/exact_blocks.hpp"
#include "kernels/gemm/exact_shape.hpp"
#include "kernels/simd/dispatch.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm/exact_host.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "kernels/simd/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {

constexpr int kStepRows = static_cast<int>(ExactBlocks::kStepRows);

template <class A, class T>
void gather(const std::byte* from, std::int64_t step_bytes, std::int64_t count, A* to) {
  for (std::int64_t i = 0; i < count; ++i)
    to[i] = to_arithmetic<A>(*reinterpret_cast<const T*>(from + i * step_bytes));
}

template <class A, class T>
void scatter(const A* from, std::int64_t count, std::byte* to, std::int64_t step_bytes) {
  for (std::int64_t i = 0; i < count; ++i) *reinterpret_cast<T*>(to + i * step_bytes) = to_pixel<T>(from[i]);
}

/// Converts `count` elements that are step_bytes apart.
template <class A>
void load_line(const std::byte* from, PixelType type, std::int64_t step_bytes, std::int64_t count,
               LoadRow<A> load, A* to) {
  if (step_bytes == size_of(type)) return load(from, count, to);
  visit_pixel_type(type, [&]<class T>(std::type_identity<T>) { gather<A, T>(from, step_bytes, count, to); });
}

/// sums += x y for kStepRows rows of x, x_pitch apart, and a strip of y, two vectors wide. Sums begin at 0 if
/// `first`.
template <class A>
void multiply_step(const A* x, std::int64_t x_pitch, const A* y, std::int64_t depth, bool first, A* sums,
                   std::int64_t sums_pitch) {
  const hn::ScalableTag<A> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  hn::Vec<decltype(d)> left[kStepRows], right[kStepRows];
  SEPCONV_UNROLL
  for (int i = 0; i < kStepRows; ++i) {
    left[i] = first ? hn::Zero(d) : hn::Load(d, sums + i * sums_pitch);
    right[i] = first ? hn::Zero(d) : hn::Load(d, sums + i * sums_pitch + lanes);
  }
  for (std::int64_t k = 0; k < depth; ++k) {
    const auto y_left = hn::Load(d, y);
    const auto y_right = hn::Load(d, y + lanes);
    y += 2 * lanes;
    SEPCONV_UNROLL
    for (int i = 0; i < kStepRows; ++i) {
      const auto factor = hn::Set(d, x[i * x_pitch + k]);
      left[i] = fused_multiply_add(factor, y_left, left[i]);
      right[i] = fused_multiply_add(factor, y_right, right[i]);
    }
  }
  SEPCONV_UNROLL
  for (int i = 0; i < kStepRows; ++i) {
    hn::Store(left[i], d, sums + i * sums_pitch);
    hn::Store(right[i], d, sums + i * sums_pitch + lanes);
  }
}

/// One product, block by block.
template <class A>
class Product {
 public:
  Product(const ExactShape& shape, Worker& worker)
      : shape_(shape),
        worker_(worker),
        blocks_(shape.m, shape.n, shape.k, sizeof(A)),
        cols_(blocks_.col_bytes / static_cast<std::int64_t>(sizeof(A))),
        x_pitch_(blocks_.x_pitch_bytes(sizeof(A)) / static_cast<std::int64_t>(sizeof(A))),
        sums_(worker.allocate<A>(blocks_.rows * cols_)),
        x_(worker.allocate<A>(blocks_.rows * x_pitch_)),
        y_(worker.allocate<A>(blocks_.depth * cols_)),
        line_(worker.allocate<A>(cols_)),
        load_x_(load_row_for<A>(shape.x.type)),
        load_y_(load_row_for<A>(shape.y.type)),
        store_(store_row_for<A>(shape.out.type)) {
    // The padding of steps and strips at the edges takes part in the computation but is never stored.
    std::memset(x_, 0, static_cast<std::size_t>(blocks_.rows * x_pitch_) * sizeof(A));
    std::memset(line_, 0, static_cast<std::size_t>(cols_) * sizeof(A));
  }

  void compute(std::int64_t item) {
    for (std::int64_t col = 0; col < shape_.n; col += cols_) {
      const std::int64_t cols = std::min(cols_, shape_.n - col);
      for (std::int64_t row = 0; row < shape_.m; row += blocks_.rows) {
        const std::int64_t rows = std::min(blocks_.rows, shape_.m - row);
        for (std::int64_t k = 0; k < shape_.k; k += blocks_.depth) {
          worker_.throw_if_stopped();
          const std::int64_t depth = std::min(blocks_.depth, shape_.k - k);
          pack_x(item, row, rows, k, depth);
          pack_y(item, k, depth, col, cols);
          multiply(rows, cols, depth, k == 0);
        }
        store(item, row, rows, col, cols);
      }
    }
  }

 private:
  static std::int64_t strip() { return 2 * static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<A>())); }

  void pack_x(std::int64_t item, std::int64_t row, std::int64_t rows, std::int64_t k, std::int64_t depth) {
    const ExactMatrix& x = shape_.x;
    const std::byte* from = x.data + row * x.row_bytes + k * x.col_bytes + item * x.item_bytes;
    for (std::int64_t i = 0; i < rows; ++i)
      load_line<A>(from + i * x.row_bytes, x.type, x.col_bytes, depth, load_x_, x_ + i * x_pitch_);
  }

  /// Packs into strips of two vectors, each from the first to the last k of the block.
  void pack_y(std::int64_t item, std::int64_t first, std::int64_t depth, std::int64_t col,
              std::int64_t cols) {
    const ExactMatrix& y = shape_.y;
    const std::byte* const from = y.data + col * y.col_bytes + item * y.item_bytes;
    const std::int64_t width = strip();
    const auto bytes = static_cast<std::size_t>(width) * sizeof(A);
    for (std::int64_t k = 0; k < depth; ++k) {
      load_line<A>(from + shape_.y_row_bytes(first + k), y.type, y.col_bytes, cols, load_y_, line_);
      for (std::int64_t j = 0; j < cols; j += width)
        std::memcpy(y_ + j * depth + k * width, line_ + j, bytes);
    }
  }

  void multiply(std::int64_t rows, std::int64_t cols, std::int64_t depth, bool first) {
    for (std::int64_t j = 0; j < cols; j += strip()) {
      for (std::int64_t i = 0; i < rows; i += kStepRows)
        multiply_step(x_ + i * x_pitch_, x_pitch_, y_ + j * depth, depth, first, sums_ + i * cols_ + j,
                      cols_);
    }
  }

  void store(std::int64_t item, std::int64_t row, std::int64_t rows, std::int64_t col, std::int64_t cols) {
    const ExactMatrix& out = shape_.out;
    std::byte* const to = out.data + row * out.row_bytes + col * out.col_bytes + item * out.item_bytes;
    if (out.dense()) {
      for (std::int64_t i = 0; i < rows; ++i) store_(sums_ + i * cols_, cols, to + i * out.row_bytes);
      return;
    }
    visit_pixel_type(out.type, [&]<class T>(std::type_identity<T>) {
      for (std::int64_t i = 0; i < rows; ++i)
        scatter<A, T>(sums_ + i * cols_, cols, to + i * out.row_bytes, out.col_bytes);
    });
  }

  const ExactShape& shape_;
  Worker& worker_;
  ExactBlocks blocks_;
  std::int64_t cols_;
  std::int64_t x_pitch_;
  A* sums_;
  A* x_;
  A* y_;
  A* line_;
  LoadRow<A> load_x_;
  LoadRow<A> load_y_;
  StoreRow<A> store_;
};

template <class A>
void exact_gemm(const ExactShape& shape, Worker& worker) {
  const Arena::Scope scope(worker);
  Product<A> product(shape, worker);
  for (std::int64_t item = 0; item < shape.items; ++item) product.compute(item);
}

void exact_gemm_f32(const ExactShape& shape, Worker& worker) { exact_gemm<float>(shape, worker); }
void exact_gemm_f64(const ExactShape& shape, Worker& worker) { exact_gemm<double>(shape, worker); }

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sepconv {

HWY_EXPORT(exact_gemm_f32);
HWY_EXPORT(exact_gemm_f64);

void exact_gemm_host(const ExactOperand& x, const ExactOperand& y, const PixelView& out,
                     Arithmetic arithmetic, Worker& worker) {
  const ExactShape shape = exact_shape(x, y, out);
  if (arithmetic == Arithmetic::f64) {
    HWY_DYNAMIC_DISPATCH(exact_gemm_f64)(shape, worker);
  } else {
    HWY_DYNAMIC_DISPATCH(exact_gemm_f32)(shape, worker);
  }
}

std::int64_t exact_gemm_scratch_bytes(Extent out, std::int64_t channels, std::int64_t sum_length,
                                      Arithmetic arithmetic) {
  const std::int64_t element_bytes = size_of(pixel_type_of(arithmetic));
  const ExactBlocks blocks(out.rows, out.cols * channels, sum_length, element_bytes);
  return Arena::bytes_for(blocks.rows * blocks.col_bytes) +
         Arena::bytes_for(blocks.rows * blocks.x_pitch_bytes(element_bytes)) +
         Arena::bytes_for(blocks.depth * blocks.col_bytes) + Arena::bytes_for(blocks.col_bytes);
}

}  // namespace sepconv
#endif
