// Permutations of a tensor's axes: blocks of 8 x 8 x 8 threads, one thread per element of the tile. Variants
// with and without "template" use the same kernels with axes known at compile time or at run time.
#include "bench/transpose/variants.hpp"
#include "bench/transpose/visit_element.cuh"

namespace sepconv::transpose_variants {
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
struct PermuteArgs {
  const T* in;
  T* out;
  Triple extent;  // of the input
  Triple tiles;
  int tile_plane, tile_row;  // strides of planes and rows in shared memory, in elements
};

/// Position of a thread in its tile, and of the tile's first element in the input. Blocks are numbered in
/// row-major order.
__device__ __forceinline__ Triple position_in_tile() {
  return {static_cast<int>(threadIdx.z), static_cast<int>(threadIdx.y), static_cast<int>(threadIdx.x)};
}
__device__ __forceinline__ Triple tile_begin(const Triple& tiles) {
  const int block = static_cast<int>(blockIdx.x);
  return {block / tiles.c / tiles.b * kSide, block / tiles.c % tiles.b * kSide, block % tiles.c * kSide};
}
__device__ __forceinline__ Triple add(const Triple& x, const Triple& y) {
  return {x.a + y.a, x.b + y.b, x.c + y.c};
}
__device__ __forceinline__ bool inside(const Triple& position, const Triple& extent) {
  return position.a < extent.a && position.b < extent.b && position.c < extent.c;
}
__device__ __forceinline__ int linear_index(const Triple& position, const Triple& extent) {
  return (position.a * extent.b + position.b) * extent.c + position.c;
}
/// Reorders a triple from the input's axes to the output's.
template <class Axes>
__device__ __forceinline__ Triple permute(const Triple& input_triple, const Axes& axes) {
  return {input_triple[axes.first], input_triple[axes.second], input_triple[axes.third]};
}
/// Reorders a triple from the output's axes to the input's.
template <class Axes>
__device__ __forceinline__ Triple unpermute(const Triple& output_triple, const Axes& axes) {
  const auto component = [&](int axis) {
    return axes.first == axis ? output_triple.a : axes.second == axis ? output_triple.b : output_triple.c;
  };
  return {component(0), component(1), component(2)};
}

template <class T>
__global__ void __launch_bounds__(kThreads) copy_simple(const PermuteArgs<T> args) {
  const Triple position = add(tile_begin(args.tiles), position_in_tile());
  if (inside(position, args.extent))
    args.out[linear_index(position, args.extent)] = args.in[linear_index(position, args.extent)];
}

template <class T>
__global__ void __launch_bounds__(kThreads) copy_through_shared(const PermuteArgs<T> args) {
  __shared__ T shared[kSide][kSide][kSide];
  const Triple in_tile = position_in_tile(), position = add(tile_begin(args.tiles), in_tile);
  if (inside(position, args.extent))
    shared[in_tile.a][in_tile.b][in_tile.c] = args.in[linear_index(position, args.extent)];
  __syncthreads();
  if (inside(position, args.extent))
    args.out[linear_index(position, args.extent)] = shared[in_tile.a][in_tile.b][in_tile.c];
}

/// Reads are coalesced; writes are scattered.
template <class T, class Axes>
__global__ void __launch_bounds__(kThreads) permute_simple(const PermuteArgs<T> args, const Axes axes) {
  const Triple position = add(tile_begin(args.tiles), position_in_tile());
  if (!inside(position, args.extent)) return;
  args.out[linear_index(permute(position, axes), permute(args.extent, axes))] =
      args.in[linear_index(position, args.extent)];
}

/// Reads and writes are both coalesced: a thread's position in the tile is counted along the input's axes for
/// the read, along the output's for the write. kUnpadded: the tile has no padding, so its strides are
/// compile-time constants.
template <class T, class Axes, bool kUnpadded>
__global__ void __launch_bounds__(kThreads)
    permute_through_shared(const PermuteArgs<T> args, const Axes axes) {
  extern __shared__ __align__(16) unsigned char memory[];
  T* const shared = reinterpret_cast<T*>(memory);
  const int plane_stride = kUnpadded ? kSide * kSide : args.tile_plane;
  const int row_stride = kUnpadded ? kSide : args.tile_row;

  const Triple begin = tile_begin(args.tiles), in_tile = position_in_tile();
  const Triple source = add(begin, in_tile);
  if (inside(source, args.extent))
    shared[in_tile.a * plane_stride + in_tile.b * row_stride + in_tile.c] =
        args.in[linear_index(source, args.extent)];
  __syncthreads();

  const Triple extent = permute(args.extent, axes);
  const Triple destination = add(permute(begin, axes), in_tile);
  const Triple tile_source = unpermute(in_tile, axes);
  if (inside(destination, extent))
    args.out[linear_index(destination, extent)] =
        shared[tile_source.a * plane_stride + tile_source.b * row_stride + tile_source.c];
}

template <class Visitor>
void visit_axes(const Permutation& permutation, const Visitor& visitor) {
  const auto [a, b, c] = permutation.axes;
  if (a == 0) return b == 1 ? visitor(StaticAxes<0, 1, 2>{}) : visitor(StaticAxes<0, 2, 1>{});
  if (a == 1) return b == 0 ? visitor(StaticAxes<1, 0, 2>{}) : visitor(StaticAxes<1, 2, 0>{});
  return b == 0 ? visitor(StaticAxes<2, 0, 1>{}) : visitor(StaticAxes<2, 1, 0>{});
}

template <class T>
void launch_variant(PermuteVariant variant, const Permutation& permutation, const PermuteArgs<T>& args,
                    DeviceStream stream) {
  const auto blocks = static_cast<unsigned>(std::int64_t{args.tiles.a} * args.tiles.b * args.tiles.c);
  const dim3 threads(kSide, kSide, kSide);
  const std::size_t tile_bytes = static_cast<std::size_t>(kSide * args.tile_plane) * sizeof(T);
  const RuntimeAxes axes{permutation.axes[0], permutation.axes[1], permutation.axes[2]};
  switch (variant) {
    case PermuteVariant::copy:
      copy_simple<<<blocks, threads, 0, stream>>>(args);
      break;
    case PermuteVariant::copy_shared:
      copy_through_shared<<<blocks, threads, 0, stream>>>(args);
      break;
    case PermuteVariant::simple:
      permute_simple<<<blocks, threads, 0, stream>>>(args, axes);
      break;
    case PermuteVariant::simple_template:
      visit_axes(permutation, [&]<class Axes>(Axes static_axes) {
        permute_simple<<<blocks, threads, 0, stream>>>(args, static_axes);
      });
      break;
    case PermuteVariant::shared:
      permute_through_shared<T, RuntimeAxes, true><<<blocks, threads, tile_bytes, stream>>>(args, axes);
      break;
    case PermuteVariant::shared_template:
      visit_axes(permutation, [&]<class Axes>(Axes static_axes) {
        permute_through_shared<T, Axes, true><<<blocks, threads, tile_bytes, stream>>>(args, static_axes);
      });
      break;
    case PermuteVariant::conflict_free:
      visit_axes(permutation, [&]<class Axes>(Axes static_axes) {
        permute_through_shared<T, Axes, false><<<blocks, threads, tile_bytes, stream>>>(args, static_axes);
      });
      break;
    case PermuteVariant::tile_2d_32:
    case PermuteVariant::tile_2d_8:
      break;  // 2-D kernels, launched by transpose_by_variant()
  }
}

Triple tile_counts(const TensorExtent& extent, int side) {
  return {tiles_of(extent[0], side), tiles_of(extent[1], side), tiles_of(extent[2], side)};
}

}  // namespace

void launch(PermuteVariant variant, const TensorExtent& extent, const Permutation& permutation,
            std::int64_t element_bytes, const TileExtent& tile, const std::byte* in, std::byte* out,
            DeviceStream stream) {
  visit_element(element_bytes, [&]<class T>(T) {
    const PermuteArgs<T> args{.in = reinterpret_cast<const T*>(in),
                              .out = reinterpret_cast<T*>(out),
                              .extent = tile_counts(extent, 1),
                              .tiles = tile_counts(extent, kSide),
                              .tile_plane = tile[1] * tile[2],
                              .tile_row = tile[2]};
    launch_variant(variant, permutation, args, stream);
  });
  check_launch();
}

}  // namespace sepconv::transpose_variants
