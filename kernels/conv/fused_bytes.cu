// Launches the kernel for short filters over bytes (fused_bytes.cuh).
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "kernels/conv/cuda_designs.hpp"
#include "kernels/conv/fused_bytes.cuh"
#include "kernels/conv/fused_launch.cuh"

namespace sepconv::conv_cuda {
namespace {

using Shape = ByteShape<1, 3>;  // the members used here are equal in all instances

/// Shorter rows leave most of a warp idle.
constexpr std::int64_t kMinElements = 128;

/// Elements of a row are counted in 32 bits, including the halo.
constexpr std::int64_t kMaxRowElements = std::numeric_limits<int>::max() - (1 << 16);

using BytesKernel = void (*)(BytesPass, BytesTaps);

/// The kernel, or null where fused_pass is faster (docs/measurements/2026-11-26-gpu-u8.md). 7 taps were not
/// measured; 5 and 9 were.
BytesKernel bytes_kernel(std::int64_t channels, std::size_t taps) {
  if (channels == 1) {
    return taps == 3   ? fused_bytes<1, 3>
           : taps == 5 ? fused_bytes<1, 5>
           : taps == 7 ? fused_bytes<1, 7>
           : taps == 9 ? fused_bytes<1, 9>
                       : nullptr;
  }
  if (taps != 3) return nullptr;
  return channels == 3 ? fused_bytes<3, 3> : channels == 4 ? fused_bytes<4, 3> : nullptr;
}

/// Whether row taps can be scaled by 2^110 and column taps by 2^39 without overflow, and the row pass, whose
/// bytes are scaled by 2^-149, loses no bits: its sums are multiples of a row tap's last bit.
bool can_scale_taps(const SeparableTaps& taps) {
  const auto within = [](const std::vector<double>& values, int min_exponent, int max_exponent) {
    return std::all_of(values.begin(), values.end(), [=](double tap) {
      const float magnitude = std::fabs(static_cast<float>(tap));
      return magnitude == 0 ||
             (magnitude >= std::ldexp(1.0f, min_exponent) && magnitude <= std::ldexp(1.0f, max_exponent));
    });
  };
  return within(taps.row, -80, 12) && within(taps.col, -100, 80);
}

BytesTaps scaled_taps(const SeparableTaps& taps) {
  BytesTaps scaled{};
  for (std::size_t k = 0; k < taps.row.size(); ++k)
    scaled.row[k] = std::ldexp(static_cast<float>(taps.row[k]), kRowScale);
  for (std::size_t k = 0; k < taps.col.size(); ++k)
    scaled.col[k] = std::ldexp(static_cast<float>(taps.col[k]), kColumnScale);
  return scaled;
}

/// Whether the border is not constant or its constant is a byte.
bool border_is_byte(const Border& border) {
  return border.mode != BorderMode::constant ||
         (border.value >= 0 && border.value <= 255 && border.value == std::floor(border.value));
}

bool is_word_aligned(const ConstPixelView& view, std::int64_t first_element) {
  constexpr int kWidth = Shape::kWidth;
  return std::abs(view.pitch_bytes) <= std::numeric_limits<int>::max() && view.pitch_bytes % kWidth == 0 &&
         (reinterpret_cast<std::uintptr_t>(view.data) + static_cast<std::uint64_t>(first_element)) %
                 static_cast<unsigned>(kWidth) ==
             0;
}

bool is_supported(const Request& request) {
  const auto& [taps, border, in, out, epilogue, stream] = request;
  const std::int64_t channels = in.pixels.channels;
  return in.pixels.type == PixelType::u8 && out.pixels.type == PixelType::u8 && epilogue.join == nullptr &&
         epilogue.then.empty() && taps.row.size() == taps.col.size() &&
         out.rect.cols * channels >= kMinElements && in.rect.cols * channels <= kMaxRowElements &&
         can_scale_taps(taps) && border_is_byte(border) &&
         is_word_aligned(in.pixels, (out.rect.col - in.rect.col) * channels) &&
         is_word_aligned(out.pixels, 0);
}

}  // namespace

bool convolve_bytes(const Request& request) {
  constexpr int kWarp = 32, kWidth = Shape::kWidth;
  const auto& [taps, border, in, out, epilogue, stream] = request;
  const std::int64_t channels = in.pixels.channels, elements = out.rect.cols * channels;
  const BytesKernel kernel = bytes_kernel(channels, taps.row.size());
  if (kernel == nullptr || !is_supported(request)) return false;
  const auto tap_span = static_cast<std::int64_t>(taps.row.size()) - 1;
  const auto threads = static_cast<int>(std::min<std::int64_t>(
      Shape::kThreads, round_up(ceil_div(elements, std::int64_t{kWidth}), std::int64_t{kWarp})));
  const int strip_elements = threads * kWidth;
  const std::int64_t strips = ceil_div(elements, std::int64_t{strip_elements});
  const Occupancy occupancy = occupancy_of(kernel, threads, 0);
  const std::int64_t height =
      segment_rows(out.rect.rows, strips, std::int64_t{occupancy.blocks} * occupancy.processors,
                   Shape::kPrefetchRows, tap_span + Shape::kPrefetchRows);
  const std::int64_t segments = ceil_div(out.rect.rows, height);
  const std::int64_t first_col = out.rect.col - tap_span / 2;
  const std::int64_t in_begin = in.rect.col * channels;
  const BytesPass pass{.from = device::Rows(in.pixels),
                       .to = device::Rows(out.pixels),
                       .in_row = in.rect.row,
                       .in_begin = in_begin,
                       .in_end = in_begin + in.rect.cols * channels,
                       .image_rows = in.image.rows,
                       .image_cols = in.image.cols,
                       .first_col = first_col,
                       .end_col = first_col + out.rect.cols + tap_span,
                       .first_row = out.rect.row,
                       .rows = out.rect.rows,
                       .elements = elements,
                       .segment_rows = height,
                       .strips = static_cast<int>(strips),
                       .segments = static_cast<int>(segments),
                       .strip_elements = strip_elements,
                       .border = border.mode,
                       .packed_border = border.mode == BorderMode::constant
                                            ? static_cast<unsigned>(border.value) * 0x01010101u
                                            : 0};
  kernel<<<static_cast<unsigned>(strips * segments), static_cast<unsigned>(threads), 0, stream>>>(
      pass, scaled_taps(taps));
  return true;
}

}  // namespace sepconv::conv_cuda
