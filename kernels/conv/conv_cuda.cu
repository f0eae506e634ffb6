// convolve_cuda: which design a convolution takes.
#include <cuda_runtime.h>

#include "sepconv/core/error.hpp"
#include "sepconv/kernels/conv/conv_check.hpp"
#include "sepconv/kernels/conv/cuda_designs.hpp"

namespace sepconv {

void convolve_cuda(const SeparableTaps& taps, const Border& border, const ConstRegion& in, const Region& out, Arithmetic arithmetic,
                   Arena& arena, DeviceStream stream, const ConvolutionEpilogue& epilogue) {
  convolve_cuda(CudaDesign::automatic, taps, border, in, out, arithmetic, arena, stream, epilogue);
}

void convolve_cuda(CudaDesign design, const SeparableTaps& taps, const Border& border, const ConstRegion& in, const Region& out,
                   Arithmetic arithmetic, Arena& arena, DeviceStream stream, const ConvolutionEpilogue& epilogue) {
  check_convolution(taps, in, out);
  if (epilogue.join != nullptr && (epilogue.other.extent != out.rect.extent() || epilogue.other.channels != out.pixels.channels)) {
    throw InvalidArgument("the operand that a convolution is joined with has another shape than its result");
  }
  if (out.rect.empty()) return;
  visit_arithmetic(arithmetic, [&]<class A>(std::type_identity<A>) {
    const conv_cuda::Request request{taps, border, in, out, epilogue, stream};
    if (design != CudaDesign::two_passes && conv_cuda::convolve_fused<A>(request)) return;
    if (design == CudaDesign::fused) {
      throw InvalidArgument("the fused kernel has no room for these filters or channels; let the design be chosen");
    }
    conv_cuda::convolve_in_two_passes<A>(request, arena);
  });
  check_cuda(cudaGetLastError(), "launching a convolution");
}

bool convolve_cuda_fits(const SeparableTaps& taps, std::int64_t channels, PixelType from, Arithmetic arithmetic) {
  bool fits = false;
  visit_arithmetic(arithmetic, [&]<class A>(std::type_identity<A>) { fits = conv_cuda::fused_fits<A>(taps, channels, from); });
  return fits;
}

std::int64_t convolve_device_bytes(const SeparableTaps& taps, Extent out, std::int64_t channels, Arithmetic arithmetic, Extent image) {
  return conv_cuda::two_passes_bytes(taps, out, channels, arithmetic, image);
}

}  // namespace sepconv
