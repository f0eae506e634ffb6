// The fused kernel's instances, a file for every type of source so that they compile side by side. Private to fused*.cu.
#pragma once

#include <utility>

#include "sepconv/kernels/conv/fused_pass.cuh"

namespace sepconv::conv_cuda {

template <class A>
using FusedKernel = void (*)(FusedPass<A>, FusedTaps<A>);

/// What an instance is made for.
struct FusedVariant {
  bool tall, many_channels;
  int taps;  ///< of both filters; 0 if they differ
};

/// The instance for a source of type T; null if there is none: the tall shape takes one channel.
template <class T, class A>
FusedKernel<A> fused_kernel(const FusedVariant& variant);

/// Defines fused_kernel for T, with an instance for each of these numbers of taps, beside those for any.
template <class T, class A, int... kTaps>
FusedKernel<A> choose_fused_kernel(const FusedVariant& variant, std::integer_sequence<int, kTaps...>) {
  if (variant.tall) return variant.many_channels ? nullptr : fused_pass<T, A, false, 0, true>;
  if (variant.many_channels) return fused_pass<T, A, true, 0, false>;
  FusedKernel<A> kernel = fused_pass<T, A, false, 0, false>;
  (void)((variant.taps == kTaps && (kernel = fused_pass<T, A, false, kTaps, false>, true)) || ...);
  return kernel;
}

using UsualTaps = std::integer_sequence<int, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31, 33>;

}  // namespace sepconv::conv_cuda
