// Disks on a device, by their chords. Windows of 1, 2, 4, ... pixels along rows replace each other level by
// level; at each level those that form chords are joined to the results in registers. The windows are in a
// block's shared memory (disk_tile.cuh) or in planes of device memory (disk_planes.cuh).
#include <cuda_runtime.h>

#include <algorithm>

#include "kernels/sliding_window/disk_planes.cuh"
#include "kernels/sliding_window/disk_tile.cuh"

namespace sepconv::engine {
namespace {

using namespace disk_kernels;

dim3 grid_of(std::int64_t across, std::int64_t down, std::int64_t channels = 1) {
  return {static_cast<unsigned>(across), static_cast<unsigned>(std::min(down, kMaxGridRows)),
          static_cast<unsigned>(channels)};
}

template <class P>
class Disks {
 public:
  using Word = typename P::Word;

  Disks(const Window& window, const Border& border, const ConstRegion& in, const Region& out, Arena& arena,
        DeviceStream stream, std::span<const PointwiseOp> then)
      : disk_(window),
        out_(out.rect),
        policy_(window, in.pixels.type),
        arena_(arena),
        stream_(stream),
        task_{device::Rows(in.pixels),
              in.rect,
              out.rect,
              out.image,
              border.mode,
              static_cast<int>(in.pixels.channels),
              static_cast<typename P::Value>(border.value),
              static_cast<int>(window.radius_x),
              static_cast<int>(window.radius_y),
              disk_.levels,
              {},
              device::Store<typename P::Value>(out.pixels, then)} {
    std::ranges::copy(disk_.reach, task_.reach);
  }

  void run() const {
    if (disk_.fits_tile(sizeof(Word))) return run_tiles();
    const Extent max_part = disk_.part(out_.extent());
    for (int channel = 0; channel < task_.channels; ++channel)
      for (std::int64_t row = 0; row < out_.rows; row += max_part.rows)
        for (std::int64_t col = 0; col < out_.cols; col += max_part.cols) {
          const Rect rect{row, col, std::min(max_part.rows, out_.rows - row),
                          std::min(max_part.cols, out_.cols - col)};
          run_part({rect, DeviceDisk::results(ceil_div(rect.rows, P::kPack), rect.cols).rows, channel});
        }
  }

 private:
  void run_tiles() const {
    const bool interleaves_channels = disk_.fits_all_channels(task_.channels, sizeof(Word));
    const TileLayout layout{interleaves_channels ? task_.channels : 1,
                            interleaves_channels ? 1 : task_.channels};
    const auto bytes = static_cast<int>(disk_.tile_bytes(layout.stride, sizeof(Word)));
    constexpr int kDefaultSharedBytes = 40 * 1024;  // leaves space for the kernel's static shared memory
    if (bytes > kDefaultSharedBytes)
      check_cuda(cudaFuncSetAttribute(tile_disks<P>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
                 "asking for shared memory");
    tile_disks<P>
        <<<grid_of(ceil_div(out_.cols * layout.stride, Tuning::kTileCols),
                   ceil_div(out_.rows, P::kPack * Tuning::kTileRows), layout.jump),
           kThreads, static_cast<std::size_t>(bytes), stream_>>>(policy_, task_, disk_.chords(0), layout);
  }

  void run_part(const Part& part) const {
    const Arena::Scope scope(arena_);
    const Extent input_plane = disk_.input_plane(part.words, part.rect.cols);
    Plane<Word> windows = plane(input_plane), next = disk_.levels > 0 ? plane(input_plane) : windows;
    const Plane<Word> results = plane(DeviceDisk::results(part.words, part.rect.cols));
    std::int64_t cols = part.rect.cols + 2 * task_.radius_x;
    load_words<P><<<grid_of(ceil_div(cols, kThreads), input_plane.rows), kThreads, 0, stream_>>>(
        policy_, task_, part, windows);
    bool is_first = true;
    for (int level = 0; level <= disk_.levels; ++level) {
      is_first = !join_level(part, level, is_first, windows, results) && is_first;
      if (level == disk_.levels) break;
      const std::int64_t size = std::int64_t{1} << level, reach = task_.reach[level + 1];
      cols -= size;
      const std::int64_t rows = part.words + 2 * reach;
      double_plane<P><<<grid_of(ceil_div(cols, kThreads), rows), kThreads, 0, stream_>>>(
          windows, next, task_.radius_y - reach, rows, cols, size);
      std::swap(windows, next);
    }
    store_plane<P><<<grid_of(ceil_div(part.rect.cols, kThreads), part.words / kRows), kThreads, 0, stream_>>>(
        policy_, task_, part, results);
  }

  /// Joins the chords of this level's windows to the results. Returns whether there were any.
  bool join_level(const Part& part, int level, bool is_first, const Plane<Word>& windows,
                  const Plane<Word>& results) const {
    const int first = level < disk_.levels ? task_.reach[level + 1] + 1 : 0, last = task_.reach[level];
    for (int first_chord = first; first_chord <= last; first_chord += DeviceChords::kMax)
      join_plane<P>
          <<<grid_of(ceil_div(part.rect.cols, Tuning::kTileCols), ceil_div(part.words, Tuning::kTileRows)),
             kThreads, 0, stream_>>>(task_, disk_.chords(first_chord), part, level,
                                     std::min(last, first_chord + DeviceChords::kMax - 1),
                                     is_first && first_chord == first, windows, results);
    return first <= last;
  }

  Plane<Word> plane(Extent words) const { return {arena_.allocate<Word>(words.area()), words.cols}; }

  DeviceDisk disk_;
  Rect out_;
  P policy_;
  Arena& arena_;
  DeviceStream stream_;
  Task<P> task_;
};

}  // namespace

void disk(const Window& window, const Border& border, const ConstRegion& in, const Region& out,
          Arithmetic arithmetic, Arena& arena, DeviceStream stream, std::span<const PointwiseOp> then) {
  visit_arithmetic(arithmetic, [&]<class A>(std::type_identity<A>) {
    const bool halves = sizeof(A) == sizeof(Packed16::Value) && !is_floating(in.pixels.type) &&
                        is_representable_as<A>(border, in.pixels.type);
    if (halves) return Disks<Packed16>(window, border, in, out, arena, stream, then).run();
    Disks<OrderedBits<A>>(window, border, in, out, arena, stream, then).run();
  });
  check_cuda(cudaGetLastError(), "launching disks");
}

}  // namespace sepconv::engine
