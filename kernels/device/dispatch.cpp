// The public launchers: they check their arguments, then call the installed backend.
#include <algorithm>
#include <string>

#include "kernels/conv/conv_check.hpp"
#include "kernels/deflate/tiles_check.hpp"
#include "kernels/device/backend.hpp"
#include "kernels/pointwise/pointwise_check.hpp"
#include "kernels/resample/resample_check.hpp"
#include "kernels/sliding_window/window_check.hpp"
#include "kernels/transpose/permutation.hpp"
#include "kernels/transpose/transpose_check.hpp"

namespace sepconv {
namespace {

void check_decoded(const EncodedTiles& tiles) {
  if (tiles.tile.empty() || !can_decode_tiles(tiles))
    throw InvalidArgument(
        "these tiles cannot be decoded on a GPU: they have no pixels, a predictor other than 1, 2 or, of "
        "floats, 3, or are JPEGs of another kind than can_decode_tiles() takes; decode them on the CPU");
}

/// The entry of the installed backend for these kernels. Throws DeviceError if it is absent.
template <class Entry>
const auto& require(Entry DeviceBackend::*entry, DeviceKernels kernels) {
  const Entry& found = device_backend().*entry;
  if (!found) throw DeviceError(lacking_kernels(kernels) + "; compute on the CPU");
  return *found;
}

}  // namespace

void pointwise_device(const PointwiseOp& op, const ConstPixelView& a, const ConstPixelView& b,
                      const PixelView& out, Arithmetic arithmetic, DeviceStream stream,
                      std::span<const PointwiseOp> fused_ops) {
  check_pointwise(op, a, b, out);
  if (!out.extent.empty()) device_backend().pointwise(op, a, b, out, arithmetic, stream, fused_ops);
}

void find_nan_device(const ConstPixelView& in, std::int32_t* found, DeviceStream stream) {
  if (!is_floating(in.type)) throw InvalidArgument("integers cannot be NaN; search for it in f32 and f64");
  if (!in.extent.empty()) require(&DeviceBackend::find_nan, DeviceKernels::nan_search)(in, found, stream);
}

void mix_channels_device(const ChannelMatrix& matrix, const ConstPixelView& in, const PixelView& out,
                         Arithmetic arithmetic, DeviceStream stream, std::span<const PointwiseOp> fused_ops) {
  check_mix_channels(matrix, in, out);
  const std::int64_t numbers = matrix.out_channels * (matrix.in_channels + 1);
  if (numbers > kMaxDeviceMatrix) {
    throw InvalidArgument("a channel matrix of " + std::to_string(numbers) +
                          " numbers cannot be applied on a GPU, whose maximum is " +
                          std::to_string(kMaxDeviceMatrix) + "; use the CPU");
  }
  if (!out.extent.empty())
    require(&DeviceBackend::mix_channels, DeviceKernels::channel_matrices)(matrix, in, out, arithmetic,
                                                                           stream, fused_ops);
}

void alpha_device(const AlphaOp& op, const ConstPixelView& in, const PixelView& out, Arithmetic arithmetic,
                  DeviceStream stream, std::span<const PointwiseOp> fused_ops) {
  check_alpha(op, in, out);
  if (!out.extent.empty())
    require(&DeviceBackend::alpha, DeviceKernels::alpha).apply(op, in, out, arithmetic, stream, fused_ops);
}

void keep_alpha_device(std::int64_t channel, const ConstPixelView& in, const PixelView& out,
                       Arithmetic arithmetic, DeviceStream stream, std::span<const PointwiseOp> fused_ops) {
  check_alpha({.channel = channel}, in, out);
  if (!out.extent.empty())
    require(&DeviceBackend::alpha, DeviceKernels::alpha)
        .keep(channel, in, out, arithmetic, stream, fused_ops);
}

void convolve_device(const SeparableTaps& taps, const Border& border, const ConstRegion& in,
                     const Region& out, Arithmetic arithmetic, Arena& arena, DeviceStream stream,
                     const ConvolutionEpilogue& epilogue) {
  convolve_device(ConvolutionDesign::automatic, taps, border, in, out, arithmetic, arena, stream, epilogue);
}
void convolve_device(ConvolutionDesign design, const SeparableTaps& taps, const Border& border,
                     const ConstRegion& in, const Region& out, Arithmetic arithmetic, Arena& arena,
                     DeviceStream stream, const ConvolutionEpilogue& epilogue) {
  check_convolution(taps, in, out);
  check_wrapped(taps, border, out);
  if (epilogue.join != nullptr && !epilogue.join->fuses_into_convolution())
    throw InvalidArgument("a convolution on a device cannot apply this binary operation before it stores");
  if (epilogue.join != nullptr &&
      (epilogue.other.extent != out.rect.extent() || epilogue.other.channels != out.pixels.channels)) {
    throw InvalidArgument("the second operand of a fused convolution has a different shape than its result");
  }
  if (!out.rect.empty())
    device_backend().convolve(design, taps, border, in, out, arithmetic, arena, stream, epilogue);
}
bool convolve_device_fits(const SeparableTaps& taps, std::int64_t channels, PixelType from,
                          Arithmetic arithmetic) {
  const DeviceBackend* const backend = find_device_backend();
  return backend != nullptr && backend->convolve_fits != nullptr &&
         backend->convolve_fits(taps, channels, from, arithmetic);
}
std::int64_t convolve_device_bytes(const SeparableTaps& taps, Extent out, std::int64_t channels,
                                   Arithmetic arithmetic, Extent image) {
  const DeviceBackend* const backend = find_device_backend();
  return backend == nullptr ? 0 : backend->convolve_bytes(taps, out, channels, arithmetic, image);
}

void window_device(const Window& window, const Border& border, const ConstRegion& in, const Region& out,
                   Arithmetic arithmetic, Arena& arena, DeviceStream stream,
                   std::span<const PointwiseOp> fused_ops) {
  check_window(window, in, out);
  check_wrapped(window, border, out);
  if (std::max(window.radius_x, window.radius_y) > kMaxDeviceWindowRadius)
    throw InvalidArgument("windows on a GPU have radii up to " + std::to_string(kMaxDeviceWindowRadius) +
                          "; use the CPU");
  if (out.rect.empty()) return;
  const auto& enqueue = window.shape == Window::Shape::disk
                            ? require(&DeviceBackend::disk, DeviceKernels::disks)
                            : require(&DeviceBackend::window, DeviceKernels::windows);
  enqueue(window, border, in, out, arithmetic, arena, stream, fused_ops);
}

void deviation_device(const WindowMoments& moments, const PixelView& out, DeviceStream stream) {
  check_moments(moments, out);
  if (!out.extent.empty())
    require(&DeviceBackend::deviation, DeviceKernels::deviations)(moments, out, stream);
}

void resample_device(const Resampling& resampling, const ConstRegion& in, const Region& out,
                     Arithmetic arithmetic, Arena& arena, DeviceStream stream,
                     std::span<const PointwiseOp> fused_ops) {
  check_resampling(resampling, in, out);
  if (!out.rect.empty())
    require(&DeviceBackend::resample, DeviceKernels::resampling)(resampling, in, out, arithmetic, arena,
                                                                 stream, fused_ops);
}

void rank_device(const RankFilter& filter, const Border& border, std::span<const ConstRegion> planes,
                 std::span<const Region> outs, Arithmetic arithmetic, Arena& arena, DeviceStream stream,
                 std::span<const PointwiseOp> fused_ops) {
  check_rank_on_device(filter, border, planes, outs);
  if (!outs.front().rect.empty())
    require(&DeviceBackend::ranks, DeviceKernels::ranks)
        .filter(filter, border, planes, outs, arithmetic, arena, stream, fused_ops);
}
std::int64_t rank_device_bytes(const RankFilter& filter, std::int64_t channels, Arithmetic arithmetic) {
  const DeviceBackend* const backend = find_device_backend();
  return backend == nullptr || !backend->ranks ? 0 : backend->ranks->bytes(filter, channels, arithmetic);
}

void transpose_device(const TransposeShape& shape, ConstMatrices in, Matrices out, DeviceStream stream) {
  check_transpose(shape);
  require(&DeviceBackend::transpose, DeviceKernels::transposes)(shape, in, out, stream);
}
void permute_device(const TensorExtent& extent, const Permutation& permutation, std::int64_t element_bytes,
                    const std::byte* in, std::byte* out, DeviceStream stream) {
  const PermutationAsTranspose work = as_transpose(extent, permutation, element_bytes);
  transpose_device(work.shape, {in, work.in_pitch_bytes, work.in_item_bytes},
                   {out, work.out_pitch_bytes, work.out_item_bytes}, stream);
}

void gemm_device(const GemmOp& op, const ConstPixelView& a, const ConstPixelView& b, const PixelView& out,
                 DeviceStream stream) {
  require(&DeviceBackend::products, DeviceKernels::products).multiply(op, a, b, out, stream);
}
void prepare_gemm_device() { require(&DeviceBackend::products, DeviceKernels::products).prepare(); }
std::string gemm_device_library() {
  const DeviceBackend* const backend = find_device_backend();
  return backend == nullptr || !backend->products ? "" : backend->products->library();
}
void exact_gemm_device(const ExactOperand& x, const ExactOperand& y, const PixelView& out,
                       Arithmetic arithmetic, DeviceStream stream, std::span<const PointwiseOp> fused_ops) {
  require(&DeviceBackend::exact_gemm, DeviceKernels::exact_products)(x, y, out, arithmetic, stream,
                                                                     fused_ops);
}

void encode_tiles_device(const ConstPixelView& in, const EncodedTiles& tiles, std::byte* scratch,
                         std::byte* encoded, EncodedTile* entries, DeviceStream stream) {
  check_tiles(tiles, in);
  if (tiles.big_endian)
    throw InvalidArgument("tiles are encoded in the byte order of this machine; leave big_endian false");
  require(&DeviceBackend::encode_tiles, DeviceKernels::encoders)(in, tiles, scratch, encoded, entries,
                                                                 stream);
}

void decode_tiles_device(const std::byte* encoded, const EncodedTile* streams, const EncodedTiles& tiles,
                         Extent part, std::byte* decoded, std::int32_t* refused, DeviceStream stream) {
  check_decoded(tiles);
  require(&DeviceBackend::decoders, DeviceKernels::decoders)
      .decode(encoded, streams, tiles, part, decoded, refused, stream);
}

void unpredict_tiles_device(const std::byte* decoded, const std::int32_t* refused, const EncodedTiles& tiles,
                            Extent part, const Rect& shown, const PixelView& out, DeviceStream stream) {
  check_decoded(tiles);
  if (out.extent != shown.extent() || !Rect::whole(part).contains(shown))
    throw InvalidArgument("the requested rectangle is outside the tiles, or does not match the view");
  if (!shown.empty())
    require(&DeviceBackend::decoders, DeviceKernels::decoders)
        .unpredict(decoded, refused, tiles, part, shown, out, stream);
}

}  // namespace sepconv
