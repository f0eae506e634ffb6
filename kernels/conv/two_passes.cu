// Convolution in two passes: a row pass (row_pass.cuh) into scratch, then a column pass (column_pass.cuh)
// over it.
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>

#include "kernels/conv/column_pass.cuh"
#include "kernels/conv/cuda_designs.hpp"
#include "kernels/conv/row_pass.cuh"

namespace sepconv::conv_cuda {
namespace {

unsigned grid_rows(std::int64_t rows) {
  return static_cast<unsigned>(std::min<std::int64_t>(rows, Tuning::kMaxGridRows));
}

/// The row pass of a constant row, as the reference computes it.
template <class A>
A constant_row_value(const std::vector<double>& row_taps, double value) {
  if (row_taps.empty()) return static_cast<A>(value);
  A sum = 0;
  for (const double tap : row_taps) sum = std::fma(static_cast<A>(tap), static_cast<A>(value), sum);
  return sum;
}

/// Threads of a block of the row pass; fewer if a row does not fill the block.
int row_pass_threads(std::int64_t elements, std::int64_t channels) {
  const std::int64_t useful = std::max(channels, ceil_div(elements, Tuning::kOutputs));
  return static_cast<int>(std::min<std::int64_t>(Tuning::kRowThreads, round_up(useful, 32)));
}

/// Memory layout between the passes: strips of Tuning::kStrip elements of a row, each with all its rows, so
/// that the row pitch is a compile-time constant.
struct Strips {
  std::int64_t rows = 0, elements = 0;
  std::int64_t count() const { return ceil_div(elements, Tuning::kStrip) * Tuning::kStrip * rows; }
};

/// The destination of a row pass: an image, or strips.
template <class A>
struct RowPassTarget {
  device::Store<A> store;
  std::int64_t strip_elements = Tuning::kStrip;

  static RowPassTarget strips(A* memory, const Strips& strips) {
    // Rows of a strip are kStrip elements apart.
    const PixelView view{reinterpret_cast<std::byte*>(memory),
                         {},
                         1,
                         pixel_type_of<A>(),
                         Tuning::kStrip * static_cast<std::int64_t>(sizeof(A))};
    return {device::Store<A>(view), strips.rows * Tuning::kStrip};
  }
};

template <class A>
void launch_row_pass(const SeparableTaps& taps, const Border& border, const ConstRegion& in, const Rect& rect,
                     const RowPassTarget<A>& target, Arena& arena, DeviceStream stream) {
  const std::int64_t channels = in.pixels.channels;
  RowPass<A> p{.from = device::Rows(in.pixels),
               .in_col = in.rect.col,
               .in_cols = in.rect.cols,
               .store = target.store,
               .strip_elements = target.strip_elements,
               .rows = rect.rows,
               .elements = rect.cols * channels,
               .first_col = rect.col,
               .image_cols = in.image.cols,
               .channels = static_cast<int>(channels),
               .tap_count = static_cast<int>(taps.row.size()),
               .segment_taps = 0,
               .plane = 0,
               .border = border.mode,
               .border_value = static_cast<A>(border.value)};
  p.from.data += (rect.row - in.rect.row) * p.from.pitch_bytes;
  if (channels > Tuning::kRowThreads) {
    const dim3 grid(static_cast<unsigned>(ceil_div(p.elements, Tuning::kRowThreads)), grid_rows(p.rows));
    return with_taps<A>(taps.row, arena, stream, [&]<class Taps>(const Taps& device_taps) {
      row_pass_many_channels<A, Taps><<<grid, Tuning::kRowThreads, 0, stream>>>(p, device_taps);
    });
  }
  const int threads = row_pass_threads(p.elements, channels);
  const int pixels = static_cast<int>(threads / channels) * Tuning::kOutputs;  // of a block
  p.segment_taps = Tuning::kSegmentTaps;
  const auto plane_of = [&] { return staged(pixels + std::min(p.segment_taps, p.tap_count)) + 1; };
  const auto shared_bytes = [&] { return plane_of() * channels * static_cast<std::int64_t>(sizeof(A)); };
  while (shared_bytes() > Tuning::kSharedBytes && p.segment_taps > Tuning::kOutputs)
    p.segment_taps -= Tuning::kOutputs;
  p.plane = plane_of();
  const dim3 grid(static_cast<unsigned>(ceil_div(p.elements, pixels * channels)), grid_rows(p.rows));
  with_taps<A>(taps.row, arena, stream, [&]<class Taps>(const Taps& device_taps) {
    row_pass<A, Taps>
        <<<grid, static_cast<unsigned>(threads), static_cast<std::size_t>(shared_bytes()), stream>>>(
            p, device_taps);
  });
}

template <class A>
void launch_column_pass(const SeparableTaps& taps, const Border& border, const A* filtered,
                        const Strips& strips, std::int64_t filtered_row, const Region& out, Arena& arena,
                        DeviceStream stream, const ConvolutionEpilogue& epilogue) {
  const ColumnPass<A> p{.from = filtered,
                        .from_row = filtered_row,
                        .from_rows = strips.rows,
                        .elements = strips.elements,
                        .store = device::Store<A>(out.pixels, epilogue.then),
                        .first_row = out.rect.row,
                        .rows = out.rect.rows,
                        .image_rows = out.image.rows,
                        .tap_count = static_cast<int>(taps.col.size()),
                        .border = border.mode,
                        .constant_row = constant_row_value<A>(taps.row, border.value),
                        .has_join = epilogue.join != nullptr,
                        .join = device::Op<A>(epilogue.join != nullptr ? *epilogue.join : PointwiseOp{}),
                        .operand = device::Rows(epilogue.other)};
  const dim3 block(Tuning::kStrip, Tuning::kColumnThreads / Tuning::kStrip);
  const dim3 grid(static_cast<unsigned>(ceil_div(p.elements, Tuning::kStrip)),
                  grid_rows(ceil_div(p.rows, kColumnOutputs<A> * static_cast<std::int64_t>(block.y))));
  with_taps<A>(taps.col, arena, stream, [&]<class Taps>(const Taps& device_taps) {
    column_pass<A, Taps><<<grid, block, 0, stream>>>(p, device_taps);
  });
}

}  // namespace

template <class A>
void convolve_in_two_passes(const Request& request, Arena& arena) {
  const auto& [taps, border, in, out, epilogue, stream] = request;
  const Arena::Scope scope(arena);
  if (taps.col.empty() && epilogue.join == nullptr) {
    return launch_row_pass<A>(taps, border, in, out.rect, {device::Store<A>(out.pixels, epilogue.then)},
                              arena, stream);
  }
  if (taps.col.empty()) {
    constexpr Arithmetic kArithmetic = sizeof(A) == 8 ? Arithmetic::f64 : Arithmetic::f32;
    const PixelView filtered = arena.allocate_view(out.rect.extent(), in.pixels.channels, pixel_type_of<A>());
    launch_row_pass<A>(taps, border, in, out.rect, {device::Store<A>(filtered)}, arena, stream);
    return pointwise_device(*epilogue.join, epilogue.other, filtered, out.pixels, kArithmetic, stream,
                            epilogue.then);
  }
  // The row pass covers the rows under the column taps that are inside the image.
  const Rect rect = out.rect.grown(taps.col_radius(), 0).intersect(Rect::whole(out.image));
  const Strips strips{rect.rows, rect.cols * in.pixels.channels};
  A* const filtered = arena.allocate<A>(strips.count());
  launch_row_pass<A>(taps, border, in, rect, RowPassTarget<A>::strips(filtered, strips), arena, stream);
  launch_column_pass<A>(taps, border, filtered, strips, rect.row, out, arena, stream, epilogue);
}

template void convolve_in_two_passes<float>(const Request&, Arena&);
template void convolve_in_two_passes<double>(const Request&, Arena&);

std::int64_t two_passes_bytes(const SeparableTaps& taps, Extent out, std::int64_t channels,
                              Arithmetic arithmetic, Extent image) {
  const std::int64_t element_bytes = size_of(pixel_type_of(arithmetic));
  const auto long_taps_bytes = [&](const std::vector<double>& pass_taps) {
    const auto count = static_cast<std::int64_t>(pass_taps.size());
    return count <= Tuning::kTapsByValue ? 0 : Arena::bytes_for(padded_taps(count) * element_bytes);
  };
  const Strips strips{std::min(out.rows + 2 * taps.col_radius(), image.rows), out.cols * channels};
  // Without column taps it is an image with aligned rows.
  const std::int64_t filtered = std::max(Arena::bytes_for(strips.count() * element_bytes),
                                         Arena::view_bytes(out, channels, pixel_type_of(arithmetic)));
  return filtered + long_taps_bytes(taps.row) + long_taps_bytes(taps.col);
}

}  // namespace sepconv::conv_cuda
