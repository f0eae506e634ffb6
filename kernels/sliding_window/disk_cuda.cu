// Disks on a device, by their chords: windows of 1, 2, 4, .. pixels along rows take each other's place, level
// by level, and of each level go those that chords are made of into the results, which are in registers. A
// block has all of that in shared memory (disk_tile.cuh), or planes in the device's memory hold it
// (disk_planes.cuh).
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
    const Extent most = disk_.part(out_.extent());
    for (int channel = 0; channel < task_.channels; ++channel)
      for (std::int64_t row = 0; row < out_.rows; row += most.rows)
        for (std::int64_t col = 0; col < out_.cols; col += most.cols) {
          const Rect rect{row, col, std::min(most.rows, out_.rows - row),
                          std::min(most.cols, out_.cols - col)};
          run_part({rect, DeviceDisk::made(ceil_div(rect.rows, P::kPack), rect.cols).rows, channel});
        }
  }

 private:
  void run_tiles() const {
    const bool together = disk_.takes_channels(task_.channels, sizeof(Word));
    const TileLayout layout{together ? task_.channels : 1, together ? 1 : task_.channels};
    const auto bytes = static_cast<int>(disk_.tile_bytes(layout.stride, sizeof(Word)));
    constexpr int kGranted = 40 * 1024;  // and what the kernel has besides
    if (bytes > kGranted)
      check_cuda(cudaFuncSetAttribute(disks_of_tiles<P>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
                 "asking for shared memory");
    disks_of_tiles<P>
        <<<grid_of(ceil_div(out_.cols * layout.stride, Tuning::kTileCols),
                   ceil_div(out_.rows, P::kPack * Tuning::kTileRows), layout.jump),
           kThreads, static_cast<std::size_t>(bytes), stream_>>>(policy_, task_, disk_.chords(0), layout);
  }

  void run_part(const Part& part) const {
    const Arena::Scope scope(arena_);
    const Extent around = disk_.around(part.words, part.rect.cols);
    Plane<Word> windows = plane(around), next = disk_.levels > 0 ? plane(around) : windows;
    const Plane<Word> made = plane(DeviceDisk::made(part.words, part.rect.cols));
    std::int64_t cols = part.rect.cols + 2 * task_.radius_x;
    take_words<P><<<grid_of(ceil_div(cols, kThreads), around.rows), kThreads, 0, stream_>>>(policy_, task_,
                                                                                            part, windows);
    bool begins = true;
    for (int level = 0; level <= disk_.levels; ++level) {
      begins = !join(part, level, begins, windows, made) && begins;
      if (level == disk_.levels) break;
      const std::int64_t size = std::int64_t{1} << level, reach = task_.reach[level + 1];
      cols -= size;
      const std::int64_t rows = part.words + 2 * reach;
      double_plane<P><<<grid_of(ceil_div(cols, kThreads), rows), kThreads, 0, stream_>>>(
          windows, next, task_.radius_y - reach, rows, cols, size);
      std::swap(windows, next);
    }
    store_plane<P><<<grid_of(ceil_div(part.rect.cols, kThreads), part.words / kRows), kThreads, 0, stream_>>>(
        policy_, task_, part, made);
  }

  /// The chords that are made of this level's windows; whether there are any.
  bool join(const Part& part, int level, bool begins, const Plane<Word>& windows,
            const Plane<Word>& made) const {
    const int first = level < disk_.levels ? task_.reach[level + 1] + 1 : 0, last = task_.reach[level];
    for (int from = first; from <= last; from += DeviceChords::kMax)
      join_plane<P>
          <<<grid_of(ceil_div(part.rect.cols, Tuning::kTileCols), ceil_div(part.words, Tuning::kTileRows)),
             kThreads, 0, stream_>>>(task_, disk_.chords(from), part, level,
                                     std::min(last, from + DeviceChords::kMax - 1), begins && from == first,
                                     windows, made);
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
    const bool halves = sizeof(A) == sizeof(Halves::Value) && !is_floating(in.pixels.type) &&
                        are_pixels<A>(border, in.pixels.type);
    if (halves) return Disks<Halves>(window, border, in, out, arena, stream, then).run();
    Disks<Ordered<A>>(window, border, in, out, arena, stream, then).run();
  });
  check_cuda(cudaGetLastError(), "launching disks");
}

}  // namespace sepconv::engine
