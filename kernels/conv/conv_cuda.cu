// convolve_device on the CUDA engine: chooses the design of a convolution.
#include <cuda_runtime.h>

#include <algorithm>

#include "core/error.hpp"
#include "kernels/conv/cuda_designs.hpp"
#include "kernels/transpose/transpose.hpp"

namespace sepconv::engine {
namespace {

Rect transposed(const Rect& rect) { return {rect.col, rect.row, rect.cols, rect.rows}; }
Extent transposed(Extent extent) { return {extent.cols, extent.rows}; }

void transpose_view(const ConstPixelView& in, const PixelView& out, DeviceStream stream) {
  transpose_device({1, in.extent.rows, in.extent.cols, in.pixel_bytes()}, {in.data, in.pitch_bytes, 0},
                   {out.data, out.pitch_bytes, 0}, stream);
}

/// Device memory for the transposed pixels of `view`.
PixelView transposed_view(const ConstPixelView& view, Arena& arena) {
  return arena.allocate_view(transposed(view.extent), view.channels, view.type);
}

/// Columns first: convolves the transposed image. Transposing runs at the rate of device memory, 40 times
/// that of the bus, so separate kernels would gain little (docs/decisions/0008).
void convolve_transposed(ConvolutionDesign design, const SeparableTaps& taps, const Border& border,
                         const ConstRegion& in, const Region& out, Arithmetic arithmetic, Arena& arena,
                         DeviceStream stream, const ConvolutionEpilogue& epilogue) {
  const Arena::Scope scope(arena);
  const Rect needed = out.rect.grown(taps.col_radius(), taps.row_radius()).intersect(Rect::whole(out.image));
  const ConstPixelView pixels = in.crop(needed).pixels;
  const PixelView transposed_in = transposed_view(pixels, arena);
  const PixelView transposed_out = transposed_view(out.pixels, arena);
  transpose_view(pixels, transposed_in, stream);
  ConvolutionEpilogue transposed_epilogue = epilogue;
  if (epilogue.join != nullptr) {
    const PixelView other = transposed_view(epilogue.other, arena);
    transpose_view(epilogue.other, other, stream);
    transposed_epilogue.other = other;
  }
  convolve_device(design, taps.transposed(), border,
                  {transposed_in, transposed(needed), transposed(in.image)},
                  {transposed_out, transposed(out.rect), transposed(out.image)}, arithmetic, arena, stream,
                  transposed_epilogue);
  transpose_view(transposed_out, out.pixels, stream);
}

}  // namespace

void convolve(ConvolutionDesign design, const SeparableTaps& taps, const Border& border,
              const ConstRegion& in, const Region& out, Arithmetic arithmetic, Arena& arena,
              DeviceStream stream, const ConvolutionEpilogue& epilogue) {
  if (taps.columns_first)
    return convolve_transposed(design, taps, border, in, out, arithmetic, arena, stream, epilogue);
  visit_arithmetic(arithmetic, [&]<class A>(std::type_identity<A>) {
    const conv_cuda::Request request{taps, border, in, out, epilogue, stream};
    if (design != ConvolutionDesign::two_passes && conv_cuda::convolve_fused<A>(request)) return;
    if (design == ConvolutionDesign::fused) {
      throw InvalidArgument(
          "the fused kernel does not support these filters or channels; use ConvolutionDesign::automatic");
    }
    conv_cuda::convolve_in_two_passes<A>(request, arena);
  });
  check_cuda(cudaGetLastError(), "launching a convolution");
}

bool convolve_fits(const SeparableTaps& taps, std::int64_t channels, PixelType from, Arithmetic arithmetic) {
  if (taps.columns_first) return convolve_fits(taps.transposed(), channels, from, arithmetic);
  bool fits = false;
  visit_arithmetic(arithmetic, [&]<class A>(std::type_identity<A>) {
    fits = conv_cuda::fused_fits<A>(taps, channels, from);
  });
  return fits;
}

std::int64_t convolve_bytes(const SeparableTaps& taps, Extent out, std::int64_t channels,
                            Arithmetic arithmetic, Extent image) {
  if (!taps.columns_first) return conv_cuda::two_passes_bytes(taps, out, channels, arithmetic, image);
  // The transposed input, result and join operand, whose elements may be wider than the arithmetic type.
  const Extent in{std::min(out.rows + 2 * taps.col_radius(), image.rows),
                  std::min(out.cols + 2 * taps.row_radius(), image.cols)};
  return Arena::view_bytes(transposed(in), channels, PixelType::f64) +
         2 * Arena::view_bytes(transposed(out), channels, PixelType::f64) +
         conv_cuda::two_passes_bytes(taps.transposed(), transposed(out), channels, arithmetic,
                                     transposed(image));
}

}  // namespace sepconv::engine
