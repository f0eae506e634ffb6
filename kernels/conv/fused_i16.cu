// The fused kernel for sources of type i16.
#include "kernels/conv/fused_kernels.cuh"

namespace sepconv::conv_cuda {

template <>
FusedKernel<float> fused_kernel<std::int16_t, float>(const FusedVariant& variant, int& planes) {
  return choose_fused_kernel<std::int16_t, float, NoTapCounts, NoTapCounts>(variant, planes);
}

}  // namespace sepconv::conv_cuda
