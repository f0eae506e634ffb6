// Launches of the zero-copy kernels.
#include "bench/gemm/kernel_facts.cuh"
#include "bench/gemm/zero_copy_kernels.cuh"
#include "core/error.hpp"
#include "core/geometry.hpp"

namespace sepconv::gemm_ladders {
namespace {

template <class T>
using ZeroCopyKernel = void (*)(const ZeroCopyWork<T> work);

template <class T, int kSide>
ZeroCopyKernel<T> choose(ZeroCopyRung rung) {
  return rung == ZeroCopyRung::shared ? ZeroCopyKernel<T>(zero_copy<T, kSide, true>)
                                      : ZeroCopyKernel<T>(zero_copy<T, kSide, false>);
}

template <class T>
ZeroCopyKernel<T> choose(ZeroCopyRung rung, int side) {
  switch (side) {
    case 8:
      return choose<T, 8>(rung);
    case 16:
      return choose<T, 16>(rung);
    case 32:
      return choose<T, 32>(rung);
    default:
      throw InvalidArgument("the zero-copy kernels have no blocks of this side: give 8, 16 or 32");
  }
}

/// The device's own address of the host's memory.
template <class T>
const T* mapped(const ConstPixelView& view) {
  if (view.extent.empty()) return nullptr;
  cudaPointerAttributes attributes{};
  check_cuda(cudaPointerGetAttributes(&attributes, view.data),
             "asking for the device's address of the host's memory");
  if (attributes.type == cudaMemoryTypeUnregistered || attributes.devicePointer == nullptr)
    throw InvalidArgument(
        "the zero-copy kernels read page-locked memory that the GPU can reach: give operands in such memory");
  return static_cast<const T*>(attributes.devicePointer);
}

template <class T>
void launch_typed(ZeroCopyRung rung, const GemmOperands& operands, const TileCache& cache,
                  const PixelView& out, DeviceStream stream) {
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(T));
  const GemmShape& shape = cache.shape();
  const std::int64_t side = cache.side(), steps = ceil_div(shape.k, side);
  const std::int64_t row_tiles = ceil_div(shape.m, side), col_tiles = ceil_div(shape.n, side);
  T* const tiles = reinterpret_cast<T*>(cache.tiles());
  int* const flags = reinterpret_cast<int*>(cache.flags());
  const ZeroCopyWork<T> work{.a = mapped<T>(operands.a),
                             .b = mapped<T>(operands.b),
                             .out = reinterpret_cast<T*>(out.data),
                             .a_tiles = tiles,
                             .b_tiles = tiles + row_tiles * steps * side * side,
                             .a_flags = flags,
                             .b_flags = flags + row_tiles * steps,
                             .a_pitch = operands.a.pitch_bytes / kBytes,
                             .b_pitch = operands.b.pitch_bytes / kBytes,
                             .out_pitch = out.pitch_bytes / kBytes,
                             .m = shape.m,
                             .n = shape.n,
                             .k = shape.k,
                             .steps = steps,
                             .col_tiles = col_tiles};
  const auto blocks = static_cast<unsigned>(row_tiles * col_tiles);
  const dim3 threads(static_cast<unsigned>(side), static_cast<unsigned>(side));
  check_cuda(cudaMemsetAsync(flags, 0, static_cast<std::size_t>(cache.flag_bytes()), stream),
             "emptying the tile cache");
  choose<T>(rung, cache.side())<<<blocks, threads, 0, stream>>>(work);
  check_cuda(cudaGetLastError(), "launching a zero-copy kernel of the gemm ladder");
}

}  // namespace

void launch(ZeroCopyRung rung, const GemmOperands& operands, const TileCache& cache, const PixelView& out,
            DeviceStream stream) {
  out.type == PixelType::f32 ? launch_typed<float>(rung, operands, cache, out, stream)
                             : launch_typed<double>(rung, operands, cache, out, stream);
}

KernelFacts facts(ZeroCopyRung rung, PixelType type, int side) {
  return type == PixelType::f32 ? facts_of(choose<float>(rung, side), side * side)
                                : facts_of(choose<double>(rung, side), side * side);
}

}  // namespace sepconv::gemm_ladders
