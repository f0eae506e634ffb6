// How a convolution is put on the device: the designs behind convolve_cuda. Private to kernels/conv.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/conv/conv.hpp"

namespace sepconv::conv_cuda {

/// A convolution, checked: what convolve_cuda was called with.
struct Request {
  const SeparableTaps& taps;
  const Border& border;
  const ConstRegion& in;
  const Region& out;
  const ConvolutionEpilogue& epilogue;
  DeviceStream stream;
};

/// A row pass and a column pass with the filtered rows in `arena` between them. Does everything.
template <class A>
void convolve_in_two_passes(const Request& request, Arena& arena);
std::int64_t two_passes_bytes(const SeparableTaps& taps, Extent out, std::int64_t channels,
                              Arithmetic arithmetic, Extent image);

/// One kernel for both passes; no memory but the image. False, and nothing enqueued, where it has no room:
/// long filters, many channels, a missing pass.
template <class A>
bool convolve_fused(const Request& request);

/// The same in f32, faster, for short filters from bytes to bytes (fused_bytes.cuh). False where it is not
/// made for what is asked.
bool convolve_bytes(const Request& request);

/// Whether the fused kernel has room for such a convolution on the current GPU.
template <class A>
bool fused_fits(const SeparableTaps& taps, std::int64_t channels, PixelType from);

}  // namespace sepconv::conv_cuda
