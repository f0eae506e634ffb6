// Launches the fused kernel (fused_pass.cuh): sizes of strips, segments and shared memory.
#include <algorithm>

#include "kernels/conv/cuda_designs.hpp"
#include "kernels/conv/fused_kernels.cuh"
#include "kernels/conv/fused_launch.cuh"

namespace sepconv::conv_cuda {
namespace {

/// Up to this many taps the kernel is memory-bound, and loads get a second stage.
constexpr int kTwoStageTaps = 33;

/// Up to this many row taps, loads begin at a cache line.
constexpr int kLineTaps = 21;

/// The layout of a launch, except its segments.
template <class A, bool kTall>
struct FusedLayout {
  using Shape = FusedShape<A, kTall>;
  int channels, row_taps, col_taps, stages, planes;
  bool needs_no_conversion;  ///< the source has the arithmetic type

  /// Alignment of loads in elements: whole cache lines of 128 bytes if memory-bound. Long filters use half of
  /// that to save shared memory.
  int aligned() const {
    return !needs_no_conversion    ? Shape::kGroup
           : row_taps <= kLineTaps ? Shape::kMaxAligned
                                   : Shape::kMaxAligned / 2;
  }

  /// Elements of a strip: as many thread groups as there are threads for; an even number if more than one.
  int strip_elements() const {
    const int groups = Shape::kElements / (Shape::kOutputs * planes);
    return (groups > 1 ? groups / 2 * 2 : groups) * Shape::kOutputs * planes;
  }
  int row_elements() const { return strip_elements() + (row_taps - 1) * channels; }
  int plane() const {
    return static_cast<int>(
               round_up(row_elements() / planes + aligned() + Shape::kGroup - 2, Shape::kOutputs)) +
           Shape::kVector;
  }
  std::size_t shared_bytes() const {
    const int lines = col_taps - 1 + Shape::kRows + LineRing<Shape::kPitch, A>::kMirrored;
    return static_cast<std::size_t>(stages * Shape::kRows * planes * plane() + lines * Shape::kPitch) *
               sizeof(A) +
           static_cast<std::size_t>(row_elements()) * sizeof(StagedColumn);
  }
  bool fits() const {
    return strip_elements() > 0 && (planes == 1 || row_elements() <= Shape::kStagedElements);
  }
};

/// Elements of a row are counted in 32 bits, including the halo and the rounding up to whole groups.
constexpr std::int64_t kMaxRowElements = std::numeric_limits<int>::max() - 1024;

template <class A>
FusedTaps<A> fused_taps(const SeparableTaps& taps) {
  FusedTaps<A> result{};
  for (std::size_t k = 0; k < taps.row.size(); ++k) result.row[k] = static_cast<A>(taps.row[k]);
  for (std::size_t k = 0; k < taps.col.size(); ++k) result.col[k] = static_cast<A>(taps.col[k]);
  return result;
}

bool is_vector_aligned(const PixelView& view, std::int64_t vector) {
  const std::int64_t bytes = std::min<std::int64_t>(16, vector * size_of(view.type));
  return reinterpret_cast<std::uintptr_t>(view.data) % static_cast<std::uintptr_t>(bytes) == 0 &&
         view.pitch_bytes % bytes == 0;
}

/// The kernel for a source of this type. Returns null for rare types, such as f64 in f32 arithmetic.
template <class A>
FusedKernel<A> kernel_for(PixelType type, const FusedVariant& variant, int& planes) {
  if (type == pixel_type_of<A>()) return fused_kernel<A, A>(variant, planes);
  if constexpr (sizeof(A) == 4) {
    if (type == PixelType::u8) return fused_kernel<std::uint8_t, A>(variant, planes);
    if (type == PixelType::u16) return fused_kernel<std::uint16_t, A>(variant, planes);
    if (type == PixelType::i16) return fused_kernel<std::int16_t, A>(variant, planes);
  }
  return nullptr;
}

/// A kernel and its launch layout. The kernel is null if shared memory is too small, or leaves so few blocks
/// that multiprocessors would be idle.
template <class A, bool kTall>
struct FusedPlan {
  static constexpr int kMinBlocks = kTall ? 1 : 2;
  static constexpr int kTwoStageBlocks = 3;  ///< a second stage is faster if this many blocks still fit

  FusedLayout<A, kTall> layout;
  FusedKernel<A> kernel = nullptr;
  Occupancy occupancy;

  FusedPlan(const SeparableTaps& taps, std::int64_t channels, PixelType from) : layout{} {
    constexpr std::size_t kMaxTaps = FusedShape<A, kTall>::kMaxTaps;
    if (taps.row.empty() || taps.col.empty() || taps.row.size() > kMaxTaps || taps.col.size() > kMaxTaps)
      return;
    if (channels < 1 || channels > FusedShape<A, kTall>::kElements) return;
    layout = {static_cast<int>(channels),
              static_cast<int>(taps.row.size()),
              static_cast<int>(taps.col.size()),
              2,
              1,
              from == pixel_type_of<A>()};
    kernel = kernel_for<A>(from,
                           {kTall, layout.channels, layout.row_taps == layout.col_taps ? layout.row_taps : 0},
                           layout.planes);
    if (!layout.fits()) kernel = nullptr;
    if (kernel == nullptr) return;
    const auto query_occupancy = [&] {
      occupancy = occupancy_of(kernel, FusedShape<A, kTall>::kThreads, layout.shared_bytes());
    };
    query_occupancy();
    if (!layout.needs_no_conversion || layout.col_taps > kTwoStageTaps ||
        occupancy.blocks < kTwoStageBlocks || !occupancy.copies_async) {
      layout.stages = 1;
      query_occupancy();
    }
    if (occupancy.blocks < kMinBlocks) kernel = nullptr;
  }
};

template <class A, bool kTall>
bool convolve(const Request& request) {
  using Shape = FusedShape<A, kTall>;
  const auto& [taps, border, in, out, epilogue, stream] = request;
  const std::int64_t channels = in.pixels.channels;
  if (in.rect.cols * channels > kMaxRowElements) return false;
  const FusedPlan<A, kTall> plan(taps, channels, in.pixels.type);
  if (plan.kernel == nullptr) return false;
  const FusedLayout<A, kTall>& layout = plan.layout;
  const std::int64_t resident_blocks = std::int64_t{plan.occupancy.blocks} * plan.occupancy.processors;
  const std::int64_t strips = ceil_div(out.rect.cols * channels, std::int64_t{layout.strip_elements()});
  // Overhead: the lead rows have no column pass, and a block's start has a latency.
  const std::int64_t height =
      segment_rows(out.rect.rows, strips, resident_blocks, Shape::kRows,
                   round_up(layout.col_taps - 1, std::int64_t{Shape::kRows}) / 2 + Shape::kRows);
  const std::int64_t segments = ceil_div(out.rect.rows, height);
  const std::int64_t first_col = out.rect.col - layout.row_taps / 2;
  const FusedPass<A> pass{.source = {.from = device::Rows(in.pixels),
                                     .in_row = in.rect.row,
                                     .in_col = in.rect.col,
                                     .in_elements = in.rect.cols * channels,
                                     .image_rows = in.image.rows,
                                     .image_cols = in.image.cols,
                                     .first_col = first_col,
                                     .end_col = first_col + out.rect.cols + layout.row_taps - 1,
                                     .channels = layout.channels,
                                     .aligned = layout.aligned(),
                                     .row_elements = layout.row_elements(),
                                     .planes = layout.planes,
                                     .plane = layout.plane(),
                                     .border = border.mode,
                                     .border_value = static_cast<A>(border.value)},
                          .store = device::Store<A>(out.pixels, epilogue.then),
                          .first_row = out.rect.row,
                          .rows = out.rect.rows,
                          .elements = out.rect.cols * channels,
                          .segment_rows = height,
                          .strips = static_cast<int>(strips),
                          .segments = static_cast<int>(segments),
                          .stages = layout.stages,
                          .strip_elements = layout.strip_elements(),
                          .row_taps = layout.row_taps,
                          .col_taps = layout.col_taps,
                          .whole_vectors = is_vector_aligned(out.pixels, Shape::kVector),
                          .has_join = epilogue.join != nullptr,
                          .join = device::Op<A>(epilogue.join != nullptr ? *epilogue.join : PointwiseOp{}),
                          .operand = device::Rows(epilogue.other)};
  plan.kernel<<<static_cast<unsigned>(strips * segments), Shape::kThreads, layout.shared_bytes(), stream>>>(
      pass, fused_taps<A>(taps));
  return true;
}

}  // namespace

template <class A>
bool convolve_fused(const Request& request) {
  if constexpr (sizeof(A) == 4) {
    if (convolve_bytes(request)) return true;
  }
  return convolve<A, false>(request) || convolve<A, true>(request);
}

template <class A>
bool fused_fits(const SeparableTaps& taps, std::int64_t channels, PixelType from) {
  return FusedPlan<A, false>(taps, channels, from).kernel != nullptr ||
         FusedPlan<A, true>(taps, channels, from).kernel != nullptr;
}

template bool fused_fits<float>(const SeparableTaps&, std::int64_t, PixelType);
template bool fused_fits<double>(const SeparableTaps&, std::int64_t, PixelType);
template bool convolve_fused<float>(const Request&);
template bool convolve_fused<double>(const Request&);

}  // namespace sepconv::conv_cuda
