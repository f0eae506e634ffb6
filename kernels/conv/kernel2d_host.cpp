#include "kernels/conv/kernel2d.hpp"
#include "kernels/conv/padded_row.hpp"
#include "kernels/simd/dispatch.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/conv/kernel2d_host.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <vector>

#include "core/error.hpp"
#include "kernels/simd/rows.hpp"
#include "kernels/simd/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {

/// Sums over the taps for `count` elements of a row, rounded up to four vectors. `from[k]` points to the
/// element under tap k of the first one.
template <class A>
void sum_taps(const A* weights, const A* const* from, std::size_t taps, std::int64_t count, A* to) {
  const hn::ScalableTag<A> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t i = 0; i < count; i += 4 * lanes) {  // four sums hide the latency of an addition
    auto a = hn::Zero(d), b = a, c = a, e = a;
    for (std::size_t k = 0; k < taps; ++k) {
      const auto weight = hn::Set(d, weights[k]);
      const A* const x = from[k] + i;
      a = fused_multiply_add(weight, hn::LoadU(d, x), a);
      b = fused_multiply_add(weight, hn::LoadU(d, x + lanes), b);
      c = fused_multiply_add(weight, hn::LoadU(d, x + 2 * lanes), c);
      e = fused_multiply_add(weight, hn::LoadU(d, x + 3 * lanes), e);
    }
    hn::StoreU(a, d, to + i);
    hn::StoreU(b, d, to + i + lanes);
    hn::StoreU(c, d, to + i + 2 * lanes);
    hn::StoreU(e, d, to + i + 3 * lanes);
  }
}

void sum_taps_f32(const float* weights, const float* const* from, std::size_t taps, std::int64_t count,
                  float* to) {
  sum_taps(weights, from, taps, count, to);
}
void sum_taps_f64(const double* weights, const double* const* from, std::size_t taps, std::int64_t count,
                  double* to) {
  sum_taps(weights, from, taps, count, to);
}

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sepconv {

HWY_EXPORT(sum_taps_f32);
HWY_EXPORT(sum_taps_f64);

namespace {

/// Elements that sum_taps() may access beyond a row: four of the widest vectors.
constexpr std::int64_t kSlack = 4 * 64;

void sum_taps(const float* weights, const float* const* from, std::size_t taps, std::int64_t count,
              float* to) {
  HWY_DYNAMIC_DISPATCH(sum_taps_f32)(weights, from, taps, count, to);
}
void sum_taps(const double* weights, const double* const* from, std::size_t taps, std::int64_t count,
              double* to) {
  HWY_DYNAMIC_DISPATCH(sum_taps_f64)(weights, from, taps, count, to);
}

std::int64_t row_pitch(const Kernel2d& kernel, std::int64_t cols, std::int64_t channels) {
  return (cols + 2 * kernel.radius_x) * channels + kSlack;
}

/// The extended rows under the kernel, in a ring.
template <class A>
class KernelSweep {
 public:
  KernelSweep(const Kernel2d& kernel, const Border& border, const ConstRegion& in, const Region& out,
              Worker& worker)
      : kernel_(kernel),
        border_(border),
        in_(in),
        out_(out),
        channels_(in.pixels.channels),
        columns_(out.rect.col, out.rect.cols, kernel.radius_x, in.image.cols),
        pitch_(row_pitch(kernel, out.rect.cols, channels_)),
        height_(2 * kernel.radius_y + 1),
        ring_(allocate(worker, height_ * pitch_)),
        sums_(allocate(worker, out.pixels.row_elements() + kSlack)),
        from_(kernel.taps.size()),
        load_(load_row_for<A>(in.pixels.type)),
        store_(store_row_for<A>(out.pixels.type)) {
    for (const KernelTap& tap : kernel.taps) weights_.push_back(static_cast<A>(tap.weight));
  }

  void run(const Worker& worker) {
    for (std::int64_t row = -kernel_.radius_y; row < kernel_.radius_y; ++row) fill(out_.rect.row + row);
    for (std::int64_t row = out_.rect.row; row < out_.rect.row_end(); ++row) {
      worker.throw_if_stopped();
      fill(row + kernel_.radius_y);
      for (std::size_t k = 0; k < from_.size(); ++k) {
        const KernelTap& tap = kernel_.taps[k];
        from_[k] = ring_row(row + tap.dy) + (kernel_.radius_x + tap.dx) * channels_;
      }
      const std::int64_t elements = out_.pixels.row_elements();
      sum_taps(weights_.data(), from_.data(), from_.size(), elements, sums_);
      store_(sums_, elements, out_.pixels.row_data(row - out_.rect.row));
    }
  }

 private:
  static A* allocate(Worker& worker, std::int64_t elements) {
    A* const memory = worker.allocate<A>(elements);
    std::fill_n(memory, elements, A(0));  // so that what lies beyond a row is a number
    return memory;
  }

  A* ring_row(std::int64_t row) { return ring_ + (row + height_) % height_ * pitch_; }

  /// Brings row `row`, which may be beyond the image, into the ring.
  void fill(std::int64_t row) {
    A* const to = ring_row(row);
    const std::int64_t image_row = border_index(row, in_.image.rows, border_.mode);
    if (image_row < 0) {
      std::fill_n(to, (columns_.end - columns_.first) * channels_, static_cast<A>(border_.value));
      return;
    }
    const std::byte* const from = in_.pixels.row_data(image_row - in_.rect.row) +
                                  (columns_.inside_begin - in_.rect.col) * in_.pixels.pixel_bytes();
    load_(from, columns_.inside() * channels_, to + columns_.before() * channels_);
    extend_row(to, columns_, in_.image.cols, border_.mode, channels_, static_cast<A>(border_.value));
  }

  const Kernel2d& kernel_;
  Border border_;
  ConstRegion in_;
  Region out_;
  std::int64_t channels_;
  PaddedColumns columns_;
  std::int64_t pitch_, height_;
  A* ring_;
  A* sums_;
  std::vector<A> weights_;
  std::vector<const A*> from_;
  LoadRow<A> load_;
  StoreRow<A> store_;
};

}  // namespace

void correlate_host(const Kernel2d& kernel, const Border& border, const ConstRegion& in, const Region& out,
                    Arithmetic arithmetic, Worker& worker) {
  if (out.rect.empty()) return;
  const Rect reach = out.rect.grown(kernel.radius_y, kernel.radius_x);
  if (border.mode == BorderMode::wrap && reach.intersect(Rect::whole(out.image)) != reach)
    throw InvalidArgument(
        "a kernel reaches beyond an image with border=wrap; give an image that contains the "
        "wrapped pixels");
  const Arena::Scope scope(worker);
  visit_arithmetic(arithmetic, [&]<class A>(std::type_identity<A>) {
    KernelSweep<A>(kernel, border, in, out, worker).run(worker);
  });
}

std::int64_t correlate_scratch_bytes(const Kernel2d& kernel, std::int64_t cols, std::int64_t channels,
                                     Arithmetic arithmetic) {
  const std::int64_t ring = (2 * kernel.radius_y + 1) * row_pitch(kernel, cols, channels);
  const std::int64_t bytes = size_of(pixel_type_of(arithmetic));
  return Arena::bytes_for(ring * bytes) + Arena::bytes_for((cols * channels + kSlack) * bytes);
}

}  // namespace sepconv
#endif
