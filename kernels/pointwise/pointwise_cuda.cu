// Pointwise operations and channel mixing on the device. Memory-bound: one thread per element, consecutive
// threads on consecutive elements.
#include <cuda_runtime.h>

#include <algorithm>

#include "kernels/device/runtime.hpp"
#include "kernels/pointwise/device_op.cuh"

namespace sepconv::engine {
namespace {

constexpr int kThreads = 256;
constexpr int kMaxGridRows = 65535;
constexpr int kSmallMatrix = 64;  ///< numbers in a small matrix, which has small kernel parameters

template <class A>
__global__ void __launch_bounds__(kThreads)
    apply_op(const device::Op<A> op, const device::Rows a, const device::Rows b,
             const __grid_constant__ device::Store<A> store, std::int64_t rows, std::int64_t elements,
             bool binary) {
  const std::int64_t element = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (element >= elements) return;
  for (std::int64_t row = blockIdx.y; row < rows; row += gridDim.y) {
    A x[1] = {a.template load<A>(row, element)};
    if (op.kind >= PointwiseOp::Kind::product) {
      x[0] = op.joined(x[0], b.template load<A>(row, element));
    } else if (binary) {
      const A y[1] = {b.template load<A>(row, element)};
      op.binary(x, y, x);
    } else {
      op.unary(x);
    }
    store(row, element, x[0]);
  }
}

/// The matrix as a kernel parameter: rows of in_channels coefficients and an offset.
template <class A, int kNumbers>
struct MatrixByValue {
  A value[kNumbers];

  explicit MatrixByValue(const ChannelMatrix& matrix) {
    A* to = value;
    for (std::int64_t i = 0; i < matrix.out_channels; ++i) {
      for (std::int64_t j = 0; j < matrix.in_channels; ++j) {
        *to++ = static_cast<A>(matrix.coefficients[static_cast<std::size_t>(i * matrix.in_channels + j)]);
      }
      *to++ = static_cast<A>(matrix.offsets[static_cast<std::size_t>(i)]);
    }
  }
};

/// One thread per element of the result.
template <class A, int kNumbers>
__global__ void __launch_bounds__(kThreads)
    mix_pixels(const __grid_constant__ MatrixByValue<A, kNumbers> matrix, const device::Rows in,
               const __grid_constant__ device::Store<A> store, std::int64_t rows, std::int64_t elements,
               int in_channels, int out_channels) {
  const std::int64_t element = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (element >= elements) return;
  const std::int64_t pixel = element / out_channels;
  const int first = static_cast<int>(element % out_channels) * (in_channels + 1);
  for (std::int64_t row = blockIdx.y; row < rows; row += gridDim.y) {
    A sum = matrix.value[first + in_channels];
    for (int j = 0; j < in_channels; ++j) {
      sum = device::fused_multiply_add(matrix.value[first + j],
                                       in.template load<A>(row, pixel * in_channels + j), sum);
    }
    store(row, element, sum);
  }
}

dim3 grid_for(const PixelView& out) {
  return {static_cast<unsigned>(ceil_div(out.row_elements(), kThreads)),
          static_cast<unsigned>(std::min<std::int64_t>(out.extent.rows, kMaxGridRows))};
}

template <class A, int kNumbers>
void launch_mix(const ChannelMatrix& matrix, const ConstPixelView& in, const PixelView& out,
                DeviceStream stream, std::span<const PointwiseOp> fused_ops) {
  mix_pixels<A, kNumbers><<<grid_for(out), kThreads, 0, stream>>>(
      MatrixByValue<A, kNumbers>(matrix), device::Rows(in), device::Store<A>(out, fused_ops), out.extent.rows,
      out.row_elements(), static_cast<int>(matrix.in_channels), static_cast<int>(matrix.out_channels));
}

}  // namespace

void pointwise(const PointwiseOp& op, const ConstPixelView& a, const ConstPixelView& b, const PixelView& out,
               Arithmetic arithmetic, DeviceStream stream, std::span<const PointwiseOp> fused_ops) {
  visit_arithmetic(arithmetic, [&]<class A>(std::type_identity<A>) {
    apply_op<A><<<grid_for(out), kThreads, 0, stream>>>(
        device::Op<A>(op), device::Rows(a), device::Rows(op.binary() ? b : a),
        device::Store<A>(out, fused_ops), out.extent.rows, out.row_elements(), op.binary());
  });
  check_cuda(cudaGetLastError(), "launching a pointwise operation");
}

void mix_channels(const ChannelMatrix& matrix, const ConstPixelView& in, const PixelView& out,
                  Arithmetic arithmetic, DeviceStream stream, std::span<const PointwiseOp> fused_ops) {
  const std::int64_t numbers = matrix.out_channels * (matrix.in_channels + 1);
  visit_arithmetic(arithmetic, [&]<class A>(std::type_identity<A>) {
    if (numbers <= kSmallMatrix) return launch_mix<A, kSmallMatrix>(matrix, in, out, stream, fused_ops);
    launch_mix<A, kMaxDeviceMatrix>(matrix, in, out, stream, fused_ops);
  });
  check_cuda(cudaGetLastError(), "launching a mix of channels");
}

}  // namespace sepconv::engine
