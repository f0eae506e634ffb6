// The kernel designs that convolve_device chooses from. Private to kernels/conv.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/conv/conv.hpp"

namespace sepconv::conv_cuda {

/// The checked arguments of convolve_device.
struct Request {
  const SeparableTaps& taps;
  const Border& border;
  const ConstRegion& in;
  const Region& out;
  const ConvolutionEpilogue& epilogue;
  DeviceStream stream;
};

/// A row pass and a column pass with the filtered rows in `arena` between them. Supports every request.
template <class A>
void convolve_in_two_passes(const Request& request, Arena& arena);
std::int64_t two_passes_bytes(const SeparableTaps& taps, Extent out, std::int64_t channels,
                              Arithmetic arithmetic, Extent image);

/// One kernel for both passes, without extra device memory. Returns false and enqueues nothing if it does not
/// support the request: long filters, many channels, a missing pass.
template <class A>
bool convolve_fused(const Request& request);

/// A faster fused kernel in f32 for short filters from u8 to u8 (fused_bytes.cuh). Returns false if it does
/// not support the request.
bool convolve_bytes(const Request& request);

/// Whether the fused kernel fits such a convolution on the current GPU.
template <class A>
bool fused_fits(const SeparableTaps& taps, std::int64_t channels, PixelType from);

}  // namespace sepconv::conv_cuda
