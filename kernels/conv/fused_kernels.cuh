// The fused kernel's instances, one file per source type so that they compile in parallel. Private to
// fused*.cu.
#pragma once

#include <utility>

#include "kernels/conv/fused_pass.cuh"

namespace sepconv::conv_cuda {

template <class A>
using FusedKernel = void (*)(FusedPass<A>, FusedTaps<A>);

/// Selects an instance.
struct FusedVariant {
  bool tall;
  int channels;
  int taps;  ///< of both filters; 0 if they differ
};

/// The instance for a source of type T, or null: the tall shape supports only one channel. `planes` returns
/// the number of planes in which it stages a row.
template <class T, class A>
FusedKernel<A> fused_kernel(const FusedVariant& variant, int& planes);

template <class T, class A, int kChannels, int... kTaps>
FusedKernel<A> kernel_for_taps(int taps, std::integer_sequence<int, kTaps...>) {
  FusedKernel<A> kernel = nullptr;
  (void)((taps == kTaps && (kernel = fused_pass<T, A, kChannels, kTaps, false>, true)) || ...);
  return kernel;
}

/// Tap counts with special instances, besides those for any count.
using NoTapCounts = std::integer_sequence<int>;
using CommonTapCounts =
    std::integer_sequence<int, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31, 33>;
using ColourTapCounts = std::integer_sequence<int, 3, 5, 7, 9, 11, 13, 15, 17>;  ///< 3 and 4 channels

/// Defines fused_kernel.
template <class T, class A, class Taps, class MultiChannelTapCounts>
FusedKernel<A> choose_fused_kernel(const FusedVariant& variant, int& planes) {
  planes = 1;
  FusedKernel<A> kernel = nullptr;
  if (variant.tall) return variant.channels == 1 ? fused_pass<T, A, 1, 0, true> : nullptr;
  if (variant.channels == 1) {
    kernel = kernel_for_taps<T, A, 1>(variant.taps, Taps{});
    return kernel != nullptr ? kernel : fused_pass<T, A, 1, 0, false>;
  }
  if (variant.channels == 3) kernel = kernel_for_taps<T, A, 3>(variant.taps, MultiChannelTapCounts{});
  if (variant.channels == 4) kernel = kernel_for_taps<T, A, 4>(variant.taps, MultiChannelTapCounts{});
  if (kernel == nullptr) planes = variant.channels;
  return kernel != nullptr ? kernel : fused_pass<T, A, 0, 0, false>;
}

}  // namespace sepconv::conv_cuda
