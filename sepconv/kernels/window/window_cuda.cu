// Windows on the device. Along rows a block doubles windows in shared memory, level by level. Down columns a
// thread has a column, and in shared memory what windows of 1, 2, 4, .. rows it needs again: as many elements
// as the window has rows. Least values of high windows are taken by blocks (column_blocks.cuh).
#include <cuda_runtime.h>

#include <algorithm>

#include "sepconv/kernels/window/column_blocks.cuh"

namespace sepconv::engine {
namespace {

constexpr int kRowThreads = 256;
constexpr int kPerThread = 8;  ///< windows of a row that a thread makes
constexpr int kSegment = kRowThreads * kPerThread;
constexpr int kAhead = 4;    ///< rows that a thread fetches before it uses them
constexpr int kLevels = 12;  ///< windows of up to 2^13 - 1 neighbours: kMostDeviceWindowRadius
constexpr std::int64_t kRowBytes = 96 * 1024;
constexpr std::int64_t kRingBytes = 56 * 1024;  ///< so that a multiprocessor has several blocks
constexpr int kMostColumns = 128, kLeastColumns = 32;
constexpr std::int64_t kMaxGridRows = 65535;

/// How a row's elements are taken: all, where windows step over `stride` channels, or those of one channel at
/// a time, a block each, `jump` apart.
struct RowLayout {
  int stride, jump;
};

/// Windows along the rows of `out`: a block has a segment of a row, and doubles from one half of shared
/// memory into the other.
template <class P>
__global__ void __launch_bounds__(kRowThreads)
    window_rows(const P policy, const __grid_constant__ Source<P> in, const __grid_constant__ Target<P> to,
                const Steps steps, const RowLayout layout, const Rect out) {
  using E = typename P::Element;
  extern __shared__ __align__(16) unsigned char shared[];
  const int stride = layout.stride, jump = layout.jump;
  const std::int64_t all = out.cols * stride;  // elements of a row, or of a channel of it
  const std::int64_t begin = static_cast<std::int64_t>(blockIdx.x) * kSegment;
  const int count = static_cast<int>(min(all - begin, static_cast<std::int64_t>(kSegment)));
  const int elements = count + (steps.count - 1) * stride;
  E* a = reinterpret_cast<E*>(shared);
  E* b = a + (kSegment + (steps.count - 1) * stride);
  E constant;
  if constexpr (P::kSums) {
    constant = in.constant;
  } else {
    constant = policy.of(in.constant);
  }
  const std::int64_t first_col = out.col - steps.count / 2;
  for (std::int64_t row = blockIdx.y; row < out.rows; row += gridDim.y) {
    const std::int64_t image_row = out.row + row;
    with_loads(policy, in, [&](const auto& load) {
      for (int i = static_cast<int>(threadIdx.x); i < elements; i += kRowThreads) {
        const std::int64_t element = begin + i, pixel = element / stride;
        const std::int64_t col = border_index(first_col + pixel, in.image.cols, in.border);
        const int channel =
            jump > 1 ? static_cast<int>(blockIdx.z) : static_cast<int>(element - pixel * stride);
        a[i] =
            col < 0 ? constant : load(image_row - in.rect.row, (col - in.rect.col) * in.channels + channel);
      }
    });
    __syncthreads();
    E part[kPerThread];
    bool begun = false;
    const auto each = [&](const auto& act) {
#pragma unroll
      for (int j = 0; j < kPerThread; ++j) {
        const int o = static_cast<int>(threadIdx.x) + j * kRowThreads;
        if (o < count) act(j, o);
      }
    };
    int k = 0;
    while (k < steps.levels) {
      const int size = 1 << k, apart = size * stride;
      if (P::kSums && steps.has(k)) {
        const int piece = (steps.count - steps.after(k) - size) * stride;
        each([&](int j, int o) { part[j] = begun ? P::join(a[o + piece], part[j]) : a[o + piece]; });
        begun = true;
      }
      const bool four = k + 1 < steps.levels && !(P::kSums && steps.has(k + 1));
      const int made = elements - (four ? 4 * size - 1 : 2 * size - 1) * stride;
      for (int i = static_cast<int>(threadIdx.x); i < made; i += kRowThreads) {
        E joined = P::join(a[i], a[i + apart]);
        if (four) joined = P::join(joined, P::join(a[i + 2 * apart], a[i + 3 * apart]));
        b[i] = joined;
      }
      __syncthreads();
      E* const swapped = a;
      a = b, b = swapped;
      k += four ? 2 : 1;
    }
    const int rest = steps.rest();
    each([&](int j, int o) {
      E e = a[o];
      if (rest > 0) e = P::join(e, P::kSums ? part[j] : a[o + rest * stride]);
      const std::int64_t element = (begin + o) * jump + (jump > 1 ? blockIdx.z : 0);
      to.put(policy, row, element, e);
    });
    __syncthreads();
  }
}

/// Windows down the columns of `out`: a thread has one element of each row of a segment, and begins so many
/// rows above it as the window is high.
template <class P>
__global__ void __launch_bounds__(kMostColumns)
    window_columns(const P policy, const __grid_constant__ Source<P> in, const __grid_constant__ Target<P> to,
                   const Steps steps, const Rect out, std::int64_t segment_rows) {
  using E = typename P::Element;
  extern __shared__ __align__(16) unsigned char shared[];
  const std::int64_t element = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (element >= out.cols * in.channels) return;
  const int width = static_cast<int>(blockDim.x);
  E* const ring = reinterpret_cast<E*>(shared) + threadIdx.x;
  const auto slot = [&](int k, int row) { return ring + ((1 << k) - 1 + (row & ((1 << k) - 1))) * width; };
  E constant;
  if constexpr (P::kSums) {
    constant = in.constant;
  } else {
    constant = policy.of(in.constant);
  }
  const std::int64_t source = element + (out.col - in.rect.col) * in.channels;
  const int radius = steps.count / 2, rest = steps.rest();
  for (std::int64_t begin = blockIdx.y * segment_rows; begin < out.rows; begin += gridDim.y * segment_rows) {
    const int rows = static_cast<int>(min(segment_rows, out.rows - begin)) + 2 * radius;
    const std::int64_t first_row = out.row + begin - radius;
    int oldest_row = 0;
    with_loads(policy, in, [&](const auto& load) {
      for (int first = 0; first < rows; first += kAhead) {
        E next[kAhead];
#pragma unroll
        for (int j = 0; j < kAhead; ++j) {
          const std::int64_t row =
              first + j < rows ? border_index(first_row + first + j, in.image.rows, in.border) : in.rect.row;
          next[j] = row < 0 ? constant : load(row - in.rect.row, source);
        }
#pragma unroll
        for (int j = 0; j < kAhead; ++j) {
          const int row = first + j;
          if (row >= rows) break;
          // All loads before the first store, so that none waits for another.
          E older[kLevels], piece[kLevels], oldest{};
#pragma unroll
          for (int k = 0; k < kLevels; ++k) {
            if (k >= steps.levels) break;
            older[k] = *slot(k, row);
            if (P::kSums && steps.has(k) && steps.after(k) > 0) piece[k] = *slot(k, row - steps.after(k));
          }
          E* const last = ring + ((1 << steps.levels) - 1 + oldest_row) * width;
          if (rest > 0) oldest = *last;
          E e = next[j], part = next[j];
#pragma unroll
          for (int k = 0; k < kLevels; ++k) {
            if (k >= steps.levels) break;
            if (P::kSums && steps.has(k)) part = steps.after(k) > 0 ? P::join(piece[k], part) : e;
            *slot(k, row) = e;
            e = P::join(older[k], e);
          }
          if (rest > 0) {
            *last = e;
            e = P::join(oldest, P::kSums ? part : e);
            oldest_row = oldest_row + 1 < rest ? oldest_row + 1 : 0;
          }
          if (row >= 2 * radius) to.put(policy, begin + row - 2 * radius, element, e);
        }
      }
    });
  }
}

/// The passes of one region, one after another on one stream.
template <class P>
class Passes {
 public:
  using E = typename P::Element;
  using A = typename P::Value;

  Passes(const Window& window, const Border& border, const ConstRegion& in, const Region& out, Arena& arena,
         DeviceStream stream, std::span<const PointwiseOp> then)
      : window_(window),
        border_(border),
        in_(in),
        out_(out),
        arena_(arena),
        stream_(stream),
        then_(then),
        policy_(window),
        channels_(in.pixels.channels) {}

  void run() {
    const Source<P> pixels = source(in_.rect, beyond(0));
    if (window_.radius_y == 0) return rows(pixels, result(), out_.rect);
    if (window_.radius_x == 0) return columns(pixels, result(), out_.rect);
    const bool rows_first = !window_.columns_first;
    const Rect between = out_.rect.grown(rows_first ? window_.radius_y : 0, rows_first ? 0 : window_.radius_x)
                             .intersect(Rect::whole(out_.image));
    const std::int64_t pitch = pitch_of(between);
    const Plane<E> plane{arena_.allocate<E>(between.rows * pitch), pitch};
    Source<P> made = source(between, beyond(rows_first ? window_.radius_x : window_.radius_y));
    made.plane = plane;
    Target<P> to = result();
    to.plane = plane;
    rows_first ? rows(pixels, to, between) : columns(pixels, to, between);
    rows_first ? columns(made, result(), out_.rect) : rows(made, result(), out_.rect);
  }

 private:
  Source<P> source(const Rect& rect, double constant) const {
    return {device::Rows(in_.pixels), {}, rect, out_.image, border_.mode, static_cast<int>(channels_),
            static_cast<A>(constant)};
  }
  Target<P> result() const { return {{}, device::Store<A>(out_.pixels, then_)}; }

  /// What a pass makes of a constant.
  double beyond(std::int64_t radius) const {
    if constexpr (P::kSums)
      return sum_of_window<A>(2 * radius + 1, [this](std::int64_t) { return policy_.of(border_.value); });
    return border_.value;
  }

  void rows(const Source<P>& in, const Target<P>& to, const Rect& out) const {
    const Steps steps{WindowSteps(2 * window_.radius_x + 1)};
    const auto bytes_of = [&](std::int64_t stride) {
      return 2 * (kSegment + (steps.count - 1) * stride) * static_cast<std::int64_t>(sizeof(E));
    };
    const bool together = bytes_of(channels_) <= kRowBytes;
    const RowLayout layout{together ? static_cast<int>(channels_) : 1,
                           together ? 1 : static_cast<int>(channels_)};
    const dim3 grid(static_cast<unsigned>(ceil_div(out.cols * layout.stride, kSegment)),
                    static_cast<unsigned>(std::min(out.rows, kMaxGridRows)),
                    static_cast<unsigned>(layout.jump));
    const auto bytes = static_cast<int>(bytes_of(layout.stride));
    allow(window_rows<P>, bytes);
    window_rows<P><<<grid, kRowThreads, static_cast<std::size_t>(bytes), stream_>>>(policy_, in, to, steps,
                                                                                    layout, out);
  }

  void columns(const Source<P>& in, const Target<P>& to, const Rect& out) const {
    constexpr std::int64_t kLeastSegment = 128;
    const std::int64_t kept = 2 * window_.radius_y;
    if constexpr (!P::kSums) {
      if (takes_blocks(window_, sizeof(E))) return column_blocks(in, to, out);
    }
    const auto bytes_of = [&](int width) { return kept * width * static_cast<std::int64_t>(sizeof(E)); };
    int width = kMostColumns;
    while (width > kLeastColumns && bytes_of(width) > kRingBytes) width /= 2;
    while (width > 1 && bytes_of(width) > kRowBytes) width /= 2;
    const std::int64_t segment = std::min(std::max(kLeastSegment, 4 * kept), out.rows);
    const dim3 grid(static_cast<unsigned>(ceil_div(out.cols * channels_, width)),
                    static_cast<unsigned>(std::min(ceil_div(out.rows, segment), kMaxGridRows)));
    const auto bytes = static_cast<int>(bytes_of(width));
    allow(window_columns<P>, bytes);
    window_columns<P><<<grid, static_cast<unsigned>(width), static_cast<std::size_t>(bytes), stream_>>>(
        policy_, in, to, Steps{WindowSteps(kept + 1)}, out, segment);
  }

  void column_blocks(const Source<P>& in, const Target<P>& to, const Rect& out) const {
    const std::int64_t neighbours = 2 * window_.radius_y + 1;
    const std::int64_t pitch = pitch_of(out);
    const dim3 grid(static_cast<unsigned>(ceil_div(out.cols * channels_, kBlockThreads)),
                    static_cast<unsigned>(std::min(ceil_div(out.rows, neighbours), kMaxGridRows)));
    window_column_blocks<P><<<grid, kBlockThreads, 0, stream_>>>(
        policy_, in, to, Plane<E>{arena_.allocate<E>(out.rows * pitch), pitch}, neighbours, out);
  }

  /// Of a plane of this rectangle, in elements.
  std::int64_t pitch_of(const Rect& rect) const {
    constexpr auto kBytes = static_cast<std::int64_t>(sizeof(E));
    return aligned_pitch_bytes(rect.cols * channels_ * kBytes) / kBytes;
  }

  template <class Kernel>
  static void allow(Kernel* kernel, int bytes) {
    constexpr int kGranted = 48 * 1024;
    if (bytes > kGranted)
      check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
                 "asking for shared memory");
  }

  const Window& window_;
  const Border& border_;
  const ConstRegion& in_;
  const Region& out_;
  Arena& arena_;
  DeviceStream stream_;
  std::span<const PointwiseOp> then_;
  P policy_;
  std::int64_t channels_;
};

}  // namespace

void window(const Window& asked, const Border& border, const ConstRegion& in, const Region& out,
            Arithmetic arithmetic, Arena& arena, DeviceStream stream, std::span<const PointwiseOp> then) {
  const Arena::Scope scope(arena);
  const Window made = within(asked, out.image);
  const auto run = [&]<class P>(std::type_identity<P>) {
    Passes<P>(made, border, in, out, arena, stream, then).run();
  };
  visit_arithmetic(arithmetic, [&]<class A>(std::type_identity<A>) {
    if (made.op == Window::Op::sum) return run(std::type_identity<Summed<A>>());
    if constexpr (sizeof(A) == sizeof(float)) {
      if (!is_floating(in.pixels.type) && are_pixels<A>(border, in.pixels.type))
        return visit_pixel_type(in.pixels.type, [&]<class T>(std::type_identity<T>) {
          if constexpr (std::is_integral_v<T>) run(std::type_identity<Integers<T>>());
        });
    }
    run(std::type_identity<Ordered<A>>());
  });
  check_cuda(cudaGetLastError(), "launching windows");
}

}  // namespace sepconv::engine
