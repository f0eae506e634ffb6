// The ladder of permutations: blocks of 8 x 8 x 8 threads, each of which has one element of a tile of as
// many. Rungs with and without "template" are the same kernels: what differs is whether the compiler knows
// the axes.
#include "bench/transpose/ladder.hpp"
#include "bench/transpose/ladder_elements.cuh"

namespace sepconv::transpose_ladders {
namespace {

constexpr int kSide = 8;
constexpr int kThreads = kSide * kSide * kSide;

/// Three numbers, one per axis.
struct Triple {
  int a, b, c;
  __device__ __forceinline__ int operator[](int axis) const { return axis == 0 ? a : axis == 1 ? b : c; }
};

/// The axes of the input in the order of the output.
struct RuntimeAxes {
  int first, second, third;
};
template <int kFirst, int kSecond, int kThird>
struct StaticAxes {
  static constexpr int first = kFirst, second = kSecond, third = kThird;
};

template <class T>
struct Work {
  const T* in;
  T* out;
  Triple extent;  // of the input
  Triple tiles;
  int tile_plane, tile_row;  // elements from plane to plane and from row to row in shared memory
};

/// A thread's place in its tile, and the tile's first element in the input. Blocks are numbered as elements
/// are.
__device__ __forceinline__ Triple in_tile() {
  return {static_cast<int>(threadIdx.z), static_cast<int>(threadIdx.y), static_cast<int>(threadIdx.x)};
}
__device__ __forceinline__ Triple tile_begin(const Triple& tiles) {
  const int block = static_cast<int>(blockIdx.x);
  return {block / tiles.c / tiles.b * kSide, block / tiles.c % tiles.b * kSide, block % tiles.c * kSide};
}
__device__ __forceinline__ Triple sum(const Triple& x, const Triple& y) {
  return {x.a + y.a, x.b + y.b, x.c + y.c};
}
__device__ __forceinline__ bool inside(const Triple& at, const Triple& extent) {
  return at.a < extent.a && at.b < extent.b && at.c < extent.c;
}
__device__ __forceinline__ int place(const Triple& at, const Triple& extent) {
  return (at.a * extent.b + at.b) * extent.c + at.c;
}
/// What is listed by the input's axes, by the output's.
template <class Axes>
__device__ __forceinline__ Triple permute(const Triple& of_input, const Axes& axes) {
  return {of_input[axes.first], of_input[axes.second], of_input[axes.third]};
}
/// And the other way round.
template <class Axes>
__device__ __forceinline__ Triple unpermute(const Triple& of_output, const Axes& axes) {
  const auto along = [&](int axis) {
    return axes.first == axis ? of_output.a : axes.second == axis ? of_output.b : of_output.c;
  };
  return {along(0), along(1), along(2)};
}

template <class T>
__global__ void __launch_bounds__(kThreads) copy_simple(const Work<T> work) {
  const Triple at = sum(tile_begin(work.tiles), in_tile());
  if (inside(at, work.extent)) work.out[place(at, work.extent)] = work.in[place(at, work.extent)];
}

template <class T>
__global__ void __launch_bounds__(kThreads) copy_through_shared(const Work<T> work) {
  __shared__ T shared[kSide][kSide][kSide];
  const Triple mine = in_tile(), at = sum(tile_begin(work.tiles), mine);
  if (inside(at, work.extent)) shared[mine.a][mine.b][mine.c] = work.in[place(at, work.extent)];
  __syncthreads();
  if (inside(at, work.extent)) work.out[place(at, work.extent)] = shared[mine.a][mine.b][mine.c];
}

/// Neighbours read neighbours, and write wherever that leads.
template <class T, class Axes>
__global__ void __launch_bounds__(kThreads) permute_simple(const Work<T> work, const Axes axes) {
  const Triple at = sum(tile_begin(work.tiles), in_tile());
  if (!inside(at, work.extent)) return;
  work.out[place(permute(at, axes), permute(work.extent, axes))] = work.in[place(at, work.extent)];
}

/// Neighbours read neighbours and, when the tile is there, write neighbours: a thread's place in the tile is
/// then counted along the output's axes. kKnownTile: the tile has no padding, as the compiler may know.
template <class T, class Axes, bool kKnownTile>
__global__ void __launch_bounds__(kThreads) permute_through_shared(const Work<T> work, const Axes axes) {
  extern __shared__ __align__(16) unsigned char memory[];
  T* const shared = reinterpret_cast<T*>(memory);
  const int plane = kKnownTile ? kSide * kSide : work.tile_plane;
  const int line = kKnownTile ? kSide : work.tile_row;

  const Triple begin = tile_begin(work.tiles), mine = in_tile();
  const Triple from = sum(begin, mine);
  if (inside(from, work.extent))
    shared[mine.a * plane + mine.b * line + mine.c] = work.in[place(from, work.extent)];
  __syncthreads();

  const Triple extent = permute(work.extent, axes);
  const Triple to = sum(permute(begin, axes), mine);
  const Triple source = unpermute(mine, axes);
  if (inside(to, extent)) work.out[place(to, extent)] = shared[source.a * plane + source.b * line + source.c];
}

template <class Visitor>
void visit_axes(const Permutation& permutation, const Visitor& visitor) {
  const auto [a, b, c] = permutation.axes;
  if (a == 0) return b == 1 ? visitor(StaticAxes<0, 1, 2>{}) : visitor(StaticAxes<0, 2, 1>{});
  if (a == 1) return b == 0 ? visitor(StaticAxes<1, 0, 2>{}) : visitor(StaticAxes<1, 2, 0>{});
  return b == 0 ? visitor(StaticAxes<2, 0, 1>{}) : visitor(StaticAxes<2, 1, 0>{});
}

template <class T>
void launch_rung(PermuteRung rung, const Permutation& permutation, const Work<T>& work, DeviceStream stream) {
  const auto blocks = static_cast<unsigned>(std::int64_t{work.tiles.a} * work.tiles.b * work.tiles.c);
  const dim3 threads(kSide, kSide, kSide);
  const std::size_t tile_bytes = static_cast<std::size_t>(kSide * work.tile_plane) * sizeof(T);
  const RuntimeAxes axes{permutation.axes[0], permutation.axes[1], permutation.axes[2]};
  switch (rung) {
    case PermuteRung::copy:
      copy_simple<<<blocks, threads, 0, stream>>>(work);
      break;
    case PermuteRung::copy_shared:
      copy_through_shared<<<blocks, threads, 0, stream>>>(work);
      break;
    case PermuteRung::simple:
      permute_simple<<<blocks, threads, 0, stream>>>(work, axes);
      break;
    case PermuteRung::simple_template:
      visit_axes(permutation, [&]<class Axes>(Axes known) {
        permute_simple<<<blocks, threads, 0, stream>>>(work, known);
      });
      break;
    case PermuteRung::shared:
      permute_through_shared<T, RuntimeAxes, true><<<blocks, threads, tile_bytes, stream>>>(work, axes);
      break;
    case PermuteRung::shared_template:
      visit_axes(permutation, [&]<class Axes>(Axes known) {
        permute_through_shared<T, Axes, true><<<blocks, threads, tile_bytes, stream>>>(work, known);
      });
      break;
    case PermuteRung::conflict_free:
      visit_axes(permutation, [&]<class Axes>(Axes known) {
        permute_through_shared<T, Axes, false><<<blocks, threads, tile_bytes, stream>>>(work, known);
      });
      break;
    case PermuteRung::tile_2d_32:
    case PermuteRung::tile_2d_8:
      break;  // kernels of matrices
  }
}

Triple triple(const TensorExtent& extent, int side) {
  return {tiles_of(extent[0], side), tiles_of(extent[1], side), tiles_of(extent[2], side)};
}

}  // namespace

void launch(PermuteRung rung, const TensorExtent& extent, const Permutation& permutation,
            std::int64_t element_bytes, const TileExtent& tile, const std::byte* in, std::byte* out,
            DeviceStream stream) {
  visit_element(element_bytes, [&]<class T>(T) {
    const Work<T> work{.in = reinterpret_cast<const T*>(in),
                       .out = reinterpret_cast<T*>(out),
                       .extent = triple(extent, 1),
                       .tiles = triple(extent, kSide),
                       .tile_plane = tile[1] * tile[2],
                       .tile_row = tile[2]};
    launch_rung(rung, permutation, work, stream);
  });
  check_launch();
}

}  // namespace sepconv::transpose_ladders
