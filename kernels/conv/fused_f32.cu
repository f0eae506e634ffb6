// The fused kernel for sources of type f32.
#include "kernels/conv/fused_kernels.cuh"

namespace sepconv::conv_cuda {

template <>
FusedKernel<float> fused_kernel<float, float>(const FusedVariant& variant, int& planes) {
  return choose_fused_kernel<float, float, CommonTapCounts, ColourTapCounts>(variant, planes);
}

}  // namespace sepconv::conv_cuda
