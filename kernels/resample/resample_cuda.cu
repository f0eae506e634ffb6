// Resampling on the device: computes the windows of both axes on the device, then each pass with one thread
// per element, with the first pass's result in the arena.
#include <cuda_runtime.h>

#include <algorithm>

#include "kernels/pointwise/device_op.cuh"
#include "kernels/resample/resample.hpp"

namespace sepconv::engine {
namespace {

constexpr int kThreads = 256;
constexpr std::int64_t kMaxGridRows = 65535;

/// The windows of `count` adjacent pixels from `begin` on. Weight k of pixel i is weights[k * count + i].
template <class A>
struct Table {
  std::int64_t begin;
  std::int64_t count;
  std::int64_t origin;  ///< input pixel that windows count from
  ResampleWindow* windows;
  A* weights;
};

template <class A>
__global__ void __launch_bounds__(kThreads) compute_windows(const ResampleAxis axis, const Table<A> table) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= table.count) return;
  const std::int64_t pixel = table.begin + i;
  ResampleWindow window = resample_window(axis, pixel);
  const double sum = resample_sum(axis, pixel, window);
  for (std::int64_t k = 0; k < window.count; ++k)
    table.weights[k * table.count + i] = static_cast<A>(resample_weight(axis, pixel, window.first + k) / sum);
  window.first -= table.origin;
  table.windows[i] = window;
}

/// Reads an axis with its border. `available` is the first available pixel.
template <class A>
struct BorderEdge {
  BorderMode mode;
  A value;
  std::int64_t size, available;

  /// Returns at(index among the available pixels), or the border's constant.
  template <class At>
  __device__ A operator()(std::int64_t pixel, const At& at) const {
    const std::int64_t index = border_index(pixel, size, mode);
    return index < 0 ? value : at(index - available);
  }
};
/// Reads an axis whose windows are inside the image.
template <class A>
struct NoEdge {
  template <class At>
  __device__ A operator()(std::int64_t pixel, const At& at) const {
    return at(pixel);
  }
};

template <class A, class Edge>
__global__ void __launch_bounds__(kThreads)
    row_pass(const Table<A> table, const Edge edge, const device::Rows in,
             const __grid_constant__ device::Store<A> store, std::int64_t rows, std::int64_t channels) {
  const std::int64_t element = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (element >= table.count * channels) return;
  const std::int64_t col = element / channels;
  const ResampleWindow window = table.windows[col];
  device::visit(in.type, [&]<class T>(T) {
    for (std::int64_t row = blockIdx.y; row < rows; row += gridDim.y) {
      const T* const from = in.template row<const T>(row) + element % channels;
      A sum = 0;
      for (std::int64_t k = 0; k < window.count; ++k)
        sum = device::fused_multiply_add(
            table.weights[k * table.count + col],
            edge(window.first + k,
                 [&](std::int64_t pixel) { return static_cast<A>(from[pixel * channels]); }),
            sum);
      store(row, element, sum);
    }
  });
}

template <class A, class Edge>
__global__ void __launch_bounds__(kThreads)
    column_pass(const Table<A> table, const Edge edge, const device::Rows in,
                const __grid_constant__ device::Store<A> store, std::int64_t elements) {
  const std::int64_t element = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (element >= elements) return;
  device::visit(in.type, [&]<class T>(T) {
    for (std::int64_t row = blockIdx.y; row < table.count; row += gridDim.y) {
      const ResampleWindow window = table.windows[row];
      A sum = 0;
      for (std::int64_t k = 0; k < window.count; ++k)
        sum = device::fused_multiply_add(
            table.weights[k * table.count + row],
            edge(
                window.first + k,
                [&](std::int64_t pixel) { return static_cast<A>(in.template row<const T>(pixel)[element]); }),
            sum);
      store(row, element, sum);
    }
  });
}

unsigned blocks_for(std::int64_t threads) { return static_cast<unsigned>(ceil_div(threads, kThreads)); }

dim3 grid_for(const PixelView& out) {
  return {blocks_for(out.row_elements()),
          static_cast<unsigned>(std::min<std::int64_t>(out.extent.rows, kMaxGridRows))};
}

/// The passes over one region, in order on one stream.
template <class A>
class Passes {
 public:
  /// `available`: the available pixels of the input.
  Passes(const Resampling& resampling, const Rect& available, const Rect& out, Arena& arena,
         DeviceStream stream)
      : resampling_(resampling), available_(available), out_(out), arena_(arena), stream_(stream) {}

  void along_rows(const ConstPixelView& in, const PixelView& to, std::span<const PointwiseOp> then) {
    const Table<A> table = table_of(resampling_.across, out_.col, out_.cols, available_.col);
    with_edge(resampling_.across, available_.col, [&](const auto& edge) {
      row_pass<A><<<grid_for(to), kThreads, 0, stream_>>>(
          table, edge, device::Rows(in), device::Store<A>(to, then), to.extent.rows, to.channels);
    });
  }

  void along_columns(const ConstPixelView& in, const PixelView& to, std::span<const PointwiseOp> then) {
    const Table<A> table = table_of(resampling_.down, out_.row, out_.rows, available_.row);
    with_edge(resampling_.down, available_.row, [&](const auto& edge) {
      column_pass<A><<<grid_for(to), kThreads, 0, stream_>>>(table, edge, device::Rows(in),
                                                             device::Store<A>(to, then), to.row_elements());
    });
  }

 private:
  template <class Launch>
  void with_edge(const ResampleAxis& axis, std::int64_t available, const Launch& launch) {
    const auto& border = resampling_.border;
    if (!border) return launch(NoEdge<A>{});
    launch(BorderEdge<A>{border->mode, static_cast<A>(border->value), axis.from, available});
  }

  /// Windows count from the first available pixel, or with a border from the image's first pixel.
  Table<A> table_of(const ResampleAxis& axis, std::int64_t begin, std::int64_t count,
                    std::int64_t available) {
    const std::int64_t origin = resampling_.border ? 0 : available;
    const Table<A> table{begin, count, origin, arena_.allocate<ResampleWindow>(count),
                         arena_.allocate<A>(count * resample_max_taps(axis))};
    compute_windows<<<blocks_for(count), kThreads, 0, stream_>>>(axis, table);
    return table;
  }

  const Resampling& resampling_;
  const Rect& available_;
  const Rect& out_;
  Arena& arena_;
  DeviceStream stream_;
};

}  // namespace

void resample(const Resampling& resampling, const ConstRegion& in, const Region& out, Arithmetic arithmetic,
              Arena& arena, DeviceStream stream, std::span<const PointwiseOp> then) {
  const auto& [down, across, columns_first, read, border] = resampling;
  const Arena::Scope whole_scope(arena);
  const Rect available = resample_source_rect(resampling, out.rect);
  ConstPixelView pixels = in.crop(available).pixels;
  if (read.kind != PointwiseOp::Kind::copy) {
    const PixelView values =
        arena.allocate_view(available.extent(), pixels.channels, pixel_type_of(arithmetic));
    pointwise_device(read, pixels, pixels, values, arithmetic, stream);
    pixels = values;
  }
  if (down.is_identity() && across.is_identity())
    return pointwise_device({}, pixels, pixels, out.pixels, arithmetic, stream, then);
  visit_arithmetic(arithmetic, [&]<class A>(std::type_identity<A>) {
    const Arena::Scope scope(arena);
    Passes<A> passes(resampling, available, out.rect, arena, stream);
    if (down.is_identity()) return passes.along_rows(pixels, out.pixels, then);
    if (across.is_identity()) return passes.along_columns(pixels, out.pixels, then);
    const Extent extent = resampling.columns_first ? Extent{out.rect.rows, available.cols}
                                                   : Extent{available.rows, out.rect.cols};
    const PixelView intermediate =
        arena.allocate_view(extent, out.pixels.channels, pixel_type_of(arithmetic));
    if (resampling.columns_first) {
      passes.along_columns(pixels, intermediate, {});
      passes.along_rows(intermediate, out.pixels, then);
    } else {
      passes.along_rows(pixels, intermediate, {});
      passes.along_columns(intermediate, out.pixels, then);
    }
  });
  check_cuda(cudaGetLastError(), "launching a resampling");
}

}  // namespace sepconv::engine
