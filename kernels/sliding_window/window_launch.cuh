// Launches the passes over a region. Private to this folder; included once for each policy.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>

#include "kernels/sliding_window/window_passes.cuh"
#include "kernels/sliding_window/window_request.hpp"
#include "kernels/sliding_window/window_strips.cuh"

namespace sepconv::engine {

constexpr std::int64_t kMaxGridRows = 65535;

/// Limits of the current device. Bands are launched one after another, so the last query is cached here and
/// below; a query takes longer than a launch.
struct DeviceLimits {
  int device = -1, multiprocessors = 0;
  int block_bytes = 0;  ///< dynamic shared memory of a block

  static const DeviceLimits& current() {
    static thread_local DeviceLimits last;
    int device = 0;
    check_cuda(cudaGetDevice(&device), "asking for the device");
    if (last.device == device) return last;
    DeviceLimits limits{device};
    check_cuda(cudaDeviceGetAttribute(&limits.multiprocessors, cudaDevAttrMultiProcessorCount, device),
               "asking for multiprocessors");
    check_cuda(cudaDeviceGetAttribute(&limits.block_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
               "asking for shared memory");
    limits.block_bytes -= 1024;
    return last = limits;
  }
};

/// Blocks of a kernel that are resident on the current device.
template <class Kernel>
std::int64_t resident_blocks(Kernel* kernel, int threads, int bytes) {
  struct CachedOccupancy {
    int device = -1, threads = 0, bytes = 0;
    std::int64_t blocks = 0;
  };
  static thread_local CachedOccupancy last;
  const DeviceLimits& limits = DeviceLimits::current();
  if (last.device == limits.device && last.threads == threads && last.bytes == bytes) return last.blocks;
  // Always the maximum, because other threads launch this kernel, too.
  check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, limits.block_bytes),
             "asking for shared memory");
  int blocks_per_multiprocessor = 0;
  check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_per_multiprocessor, kernel, threads,
                                                           static_cast<std::size_t>(bytes)),
             "asking how many blocks fit");
  last = {limits.device, threads, bytes,
          std::int64_t{std::max(blocks_per_multiprocessor, 1)} * limits.multiprocessors};
  return last.blocks;
}

/// Rows of a segment, a multiple of `step`: all blocks of the launch are resident, or three times as many if
/// few rows are then read twice, so that the slower blocks at an image's edge are not alone at the end. If
/// the device would be partly idle, segments have fewer rows, but at least about half of the halo.
inline std::int64_t segment_rows(std::int64_t rows, std::int64_t halo, std::int64_t strips,
                                 std::int64_t blocks, std::int64_t step) {
  const auto rows_for = [&](std::int64_t rounds) {
    return round_up(ceil_div(rows, std::max<std::int64_t>(1, rounds * blocks / strips)), step);
  };
  if (rows_for(3) >= 4 * halo && rows_for(3) >= 4 * step) return rows_for(3);
  return std::max(rows_for(1), round_up(std::min(rows, std::max(halo / 2, std::int64_t{8})), step));
}

template <class P>
class Passes {
 public:
  using E = typename P::Element;
  using A = typename P::Value;

  explicit Passes(const WindowRequest& request)
      : window_(request.window),
        request_(request),
        policy_(request.window, request.in.pixels.type),
        channels_(request.in.pixels.channels) {}

  void run() {
    const Region& out = request_.out;
    const Source<P> pixels = source(request_.in.rect, border_value(0));
    if (fits_strips(window_, channels_, sizeof(A) == 4 ? Arithmetic::f32 : Arithmetic::f64))
      return strips(pixels, result(), out.rect);
    if (window_.radius_y == 0) return rows(pixels, result(), out.rect);
    if (window_.radius_x == 0) return columns(pixels, result(), out.rect);
    const bool rows_first = !window_.columns_first;
    const Rect between = out.rect.grown(rows_first ? window_.radius_y : 0, rows_first ? 0 : window_.radius_x)
                             .intersect(Rect::whole(out.image));
    const std::int64_t pitch = pitch_of(between);
    const Plane<E> plane{request_.arena.allocate<E>(between.rows * pitch), pitch};
    Source<P> second_source = source(between, border_value(rows_first ? window_.radius_x : window_.radius_y));
    second_source.plane = plane;
    Target<P> to = result();
    to.plane = plane;
    if (rows_first) {
      rows(pixels, to, between);
      return columns(second_source, result(), out.rect);
    }
    columns(pixels, to, between);
    if constexpr (P::kSums) {
      // The second pass reads the sums as pixels and adds them unchanged.
      second_source.plane = {};
      second_source.pixels = device::Rows(ConstPixelView{reinterpret_cast<const std::byte*>(plane.data),
                                                         between.extent(), channels_, pixel_type_of<E>(),
                                                         pitch * static_cast<std::int64_t>(sizeof(E))});
      policy_.use_plain_values();
      rows(second_source, result(), out.rect);
    }
  }

 private:
  Source<P> source(const Rect& rect, double constant) const {
    return {device::Rows(request_.in.pixels),
            {},
            rect,
            request_.out.image,
            request_.border.mode,
            static_cast<int>(channels_),
            static_cast<A>(constant)};
  }
  Target<P> result() const { return {{}, device::Store<A>(request_.out.pixels, request_.then)}; }

  /// The value of the constant border after a pass of this radius.
  double border_value(std::int64_t radius) const {
    if constexpr (P::kSums)
      return sum_of_window<A>(2 * radius + 1,
                              [this](std::int64_t) { return policy_.encode(request_.border.value); });
    return request_.border.value;
  }
  Steps across() const { return Steps{WindowSteps(2 * window_.radius_x + 1)}; }
  Steps down() const { return Steps{WindowSteps(2 * window_.radius_y + 1)}; }
  dim3 grid(std::int64_t x, std::int64_t y, std::int64_t z = 1) const {
    return {static_cast<unsigned>(x), static_cast<unsigned>(std::min(y, kMaxGridRows)),
            static_cast<unsigned>(z)};
  }

  void strips(const Source<P>& in, const Target<P>& to, const Rect& out) const {
    constexpr int kElements = kLaneElements<P>;
    const int halo = static_cast<int>(round_up(window_.radius_x * channels_, std::int64_t{kElements}));
    Strips strips{across(), down(), out, halo, kWarpElements<P> - 2 * halo, 0};
    // Blocks of one warp if shared memory limits the number of warps.
    constexpr int kFewBytes = 8 * 1024;
    const int warps = strips.warp_bytes<P>() <= kFewBytes ? kStripThreads / 32 : 1;
    const int threads = 32 * warps, bytes = warps * strips.warp_bytes<P>();
    const std::int64_t count = ceil_div(out.cols * channels_, std::int64_t{strips.output_elements} * warps);
    strips.segment = segment_rows(out.rows, 2 * window_.radius_y, count,
                                  resident_blocks(window_strips<P>, threads, bytes), kLaneRows);
    window_strips<P><<<grid(count, ceil_div(out.rows, strips.segment)), static_cast<unsigned>(threads),
                       static_cast<std::size_t>(bytes), request_.stream>>>(policy_, in, to, strips);
  }

  void rows(const Source<P>& in, const Target<P>& to, const Rect& out) const {
    const std::int64_t max_bytes = std::min(160 * 1024, DeviceLimits::current().block_bytes);
    const int channels = static_cast<int>(channels_);
    RowPass pass{across(), {channels, 1, 0}, out, 0};
    const auto bytes_of = [&](int threads) {
      const std::int64_t max_elements = threads * kPerThread * Group<P>::kElements;
      pass.segment = static_cast<int>(
          std::min(max_elements, round_up(out.cols * pass.layout.stride, std::int64_t{Group<P>::kElements})));
      return 2 * 16 * pass.groups<P>();
    };
    int threads = 0;
    const auto fit = [&] {
      // Small blocks wait less; large blocks read less halo.
      threads = (pass.steps.count - 1) * pass.layout.stride <= 512 ? kMaxRowThreads / 2 : kMaxRowThreads;
      while (threads > 64 && (bytes_of(threads) > max_bytes ||
                              2 * pass.segment <= threads * kPerThread * Group<P>::kElements))
        threads /= 2;
      return bytes_of(threads) <= max_bytes;
    };
    if (!fit()) {
      pass.layout = {1, channels, 0};
      fit();
    }
    const int bytes = bytes_of(threads);
    const std::int64_t segments = ceil_div(out.cols * pass.layout.stride, std::int64_t{pass.segment});
    resident_blocks(window_rows<P>, threads, bytes);
    window_rows<P><<<grid(segments, out.rows, pass.layout.jump), static_cast<unsigned>(threads),
                     static_cast<std::size_t>(bytes), request_.stream>>>(policy_, in, to, pass);
  }

  void columns(const Source<P>& in, const Target<P>& to, const Rect& out) const {
    constexpr std::int64_t kFewBytes = 100 * 1024;
    const std::int64_t max_bytes = std::min(224 * 1024, DeviceLimits::current().block_bytes);
    constexpr int kWordBytes = sizeof(typename P::Word);
    ColumnPass pass{down(), out, 0, 0, 0};
    const auto bytes_of = [&](int width) {
      pass.width = width, pass.chunk = std::min(16, kMaxColumnThreads / width);
      return std::int64_t{pass.blocks()} * width * (kBlockRows * kWordBytes);
    };
    int width = 128;
    while (width > 64 / kWordBytes && bytes_of(width) > kFewBytes) width /= 2;
    while (width > 1 && bytes_of(width) > max_bytes) width /= 2;
    const int bytes = static_cast<int>(bytes_of(width)), threads = width * pass.chunk;
    const std::int64_t strips = ceil_div(out.cols * channels_, std::int64_t{width} * P::kPack);
    pass.segment = segment_rows(out.rows, 2 * window_.radius_y, strips,
                                resident_blocks(window_columns<P>, threads, bytes), pass.chunk * kBlockRows);
    window_columns<P><<<grid(strips, ceil_div(out.rows, pass.segment)), static_cast<unsigned>(threads),
                        static_cast<std::size_t>(bytes), request_.stream>>>(policy_, in, to, pass);
  }

  /// Pitch of a plane of this rectangle, in elements.
  std::int64_t pitch_of(const Rect& rect) const {
    constexpr auto kBytes = static_cast<std::int64_t>(sizeof(E));
    return aligned_pitch_bytes(rect.cols * channels_ * kBytes) / kBytes;
  }

  const Window& window_;
  const WindowRequest& request_;
  P policy_;
  std::int64_t channels_;
};

}  // namespace sepconv::engine
