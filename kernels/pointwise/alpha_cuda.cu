// AlphaOp on the device: the same as ElementAlpha of element_alpha.hpp. One thread per element.
#include <cuda_runtime.h>

#include <algorithm>

#include "kernels/device/runtime.hpp"
#include "kernels/pointwise/alpha.hpp"
#include "kernels/pointwise/device_op.cuh"
#include "kernels/pointwise/element_alpha.hpp"

namespace sepconv::engine {
namespace {

constexpr int kThreads = 256;
constexpr int kMaxGridRows = 65535;

template <class A>
__device__ __forceinline__ A stored(const ElementAlpha<A>& op, A x, A alpha, bool is_alpha) {
  A value = x;
  device::visit(op.type, [&]<class T>(T) {
    const A rounded = static_cast<A>(device::to_pixel<T>(x));
    if (is_alpha)
      value = isnan(alpha) ? A(0) : rounded > 0 ? x : op.min_positive;
    else if (isnan(alpha))
      value = op.p;
    else if (isnan(x))
      value = op.r;
    else if (rounded == op.p && op.q != op.p)
      value = op.q;
  });
  return value;
}

template <class A>
__device__ __forceinline__ A weighted(const ElementAlpha<A>& op, A x, A alpha, bool is_alpha) {
  bool positive = false;
  device::visit(op.type, [&]<class T>(T) { positive = device::to_pixel<T>(alpha) > T(0); });
  if (!positive) return op.p;
  if (is_alpha || op.kind == AlphaOp::Kind::clear) return x;
  const A weight = alpha / op.r;
  return op.kind == AlphaOp::Kind::multiply ? x * weight : x / weight;
}

template <class A>
__device__ __forceinline__ A changed(const ElementAlpha<A>& op, A x, A alpha, bool is_alpha) {
  if (op.kind == AlphaOp::Kind::hide)
    return alpha == 0 || isnan(alpha) || (!is_alpha && x == op.p) ? device::Op<A>::missing() : x;
  if (op.kind == AlphaOp::Kind::rescale) return is_alpha ? x * op.p / op.r : x;
  return op.kind == AlphaOp::Kind::store ? stored(op, x, alpha, is_alpha) : weighted(op, x, alpha, is_alpha);
}

template <class A>
__global__ void __launch_bounds__(kThreads)
    apply_alpha(const ElementAlpha<A> op, const device::Rows in,
                const __grid_constant__ device::Store<A> store, std::int64_t rows, std::int64_t elements,
                int channels) {
  const std::int64_t element = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (element >= elements) return;
  const std::int64_t alpha_element = element / channels * channels + op.channel;
  const bool is_alpha = element == alpha_element;
  for (std::int64_t row = blockIdx.y; row < rows; row += gridDim.y) {
    const A x = in.template load<A>(row, element);
    const A alpha = in.template load<A>(row, alpha_element);
    store(row, element, changed(op, x, alpha, is_alpha));
  }
}

/// One thread per element.
template <class A>
__global__ void __launch_bounds__(kThreads)
    copy_alpha(const device::Rows in, const device::Rows computed,
               const __grid_constant__ device::Store<A> store, std::int64_t rows, std::int64_t elements,
               int channels, int alpha_channel) {
  const std::int64_t element = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (element >= elements) return;
  for (std::int64_t row = blockIdx.y; row < rows; row += gridDim.y) {
    const A x = computed.template load<A>(row, element);
    const bool is_kept_alpha = element % channels == alpha_channel && !isnan(x);
    if (!is_kept_alpha && store.count == 0) continue;
    store(row, element, is_kept_alpha ? in.template load<A>(row, element) : x);
  }
}

dim3 grid_for(const PixelView& out) {
  return {static_cast<unsigned>(ceil_div(out.row_elements(), kThreads)),
          static_cast<unsigned>(std::min<std::int64_t>(out.extent.rows, kMaxGridRows))};
}

}  // namespace

void alpha(const AlphaOp& op, const ConstPixelView& in, const PixelView& out, Arithmetic arithmetic,
           DeviceStream stream, std::span<const PointwiseOp> fused_ops) {
  visit_arithmetic(arithmetic, [&]<class A>(std::type_identity<A>) {
    apply_alpha<A><<<grid_for(out), kThreads, 0, stream>>>(ElementAlpha<A>(op), device::Rows(in),
                                                           device::Store<A>(out, fused_ops), out.extent.rows,
                                                           out.row_elements(), static_cast<int>(in.channels));
  });
  check_cuda(cudaGetLastError(), "launching an operation on alpha");
}

void keep_alpha(std::int64_t channel, const ConstPixelView& in, const PixelView& out, Arithmetic arithmetic,
                DeviceStream stream, std::span<const PointwiseOp> fused_ops) {
  visit_arithmetic(arithmetic, [&]<class A>(std::type_identity<A>) {
    copy_alpha<A><<<grid_for(out), kThreads, 0, stream>>>(
        device::Rows(in), device::Rows(out), device::Store<A>(out, fused_ops), out.extent.rows,
        out.row_elements(), static_cast<int>(out.channels), static_cast<int>(channel));
  });
  check_cuda(cudaGetLastError(), "launching the copy of alpha");
}

}  // namespace sepconv::engine
