// The fused kernel for sources of type u8.
#include "kernels/conv/fused_kernels.cuh"

namespace sepconv::conv_cuda {

template <>
FusedKernel<float> fused_kernel<std::uint8_t, float>(const FusedVariant& variant, int& planes) {
  return choose_fused_kernel<std::uint8_t, float, CommonTapCounts, ColourTapCounts>(variant, planes);
}

}  // namespace sepconv::conv_cuda
