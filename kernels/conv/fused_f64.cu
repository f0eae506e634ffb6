// The fused kernel for sources of type f64.
#include "kernels/conv/fused_kernels.cuh"

namespace sepconv::conv_cuda {

template <>
FusedKernel<double> fused_kernel<double, double>(const FusedVariant& variant, int& planes) {
  return choose_fused_kernel<double, double, NoTapCounts, NoTapCounts>(variant, planes);
}

}  // namespace sepconv::conv_cuda
