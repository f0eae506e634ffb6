// Launches the zero-copy kernels.
#include "bench/gemm/kernel_facts.cuh"
#include "bench/gemm/zero_copy_kernels.cuh"
#include "core/error.hpp"
#include "core/geometry.hpp"

namespace sepconv::gemm_variants {
namespace {

template <class T>
using ZeroCopyKernel = void (*)(const ZeroCopyArgs<T> args);

template <class T, int kSide>
ZeroCopyKernel<T> choose_kernel(ZeroCopyVariant variant) {
  return variant == ZeroCopyVariant::shared ? ZeroCopyKernel<T>(zero_copy<T, kSide, true>)
                                            : ZeroCopyKernel<T>(zero_copy<T, kSide, false>);
}

template <class T>
ZeroCopyKernel<T> choose_kernel(ZeroCopyVariant variant, int side) {
  switch (side) {
    case 8:
      return choose_kernel<T, 8>(variant);
    case 16:
      return choose_kernel<T, 16>(variant);
    case 32:
      return choose_kernel<T, 32>(variant);
    default:
      throw InvalidArgument("the zero-copy kernels have no blocks of this side: give 8, 16 or 32");
  }
}

/// The device address of page-locked host memory.
template <class T>
const T* device_address(const ConstPixelView& view) {
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
void launch_typed(ZeroCopyVariant variant, const GemmOperands& operands, const TileCache& cache,
                  const PixelView& out, DeviceStream stream) {
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(T));
  const GemmShape& shape = cache.shape();
  const std::int64_t side = cache.side(), k_tiles = ceil_div(shape.k, side);
  const std::int64_t row_tiles = ceil_div(shape.m, side), col_tiles = ceil_div(shape.n, side);
  T* const tiles = reinterpret_cast<T*>(cache.tiles());
  int* const flags = reinterpret_cast<int*>(cache.flags());
  const ZeroCopyArgs<T> args{.a = device_address<T>(operands.a),
                             .b = device_address<T>(operands.b),
                             .out = reinterpret_cast<T*>(out.data),
                             .a_tiles = tiles,
                             .b_tiles = tiles + row_tiles * k_tiles * side * side,
                             .a_flags = flags,
                             .b_flags = flags + row_tiles * k_tiles,
                             .a_pitch = operands.a.pitch_bytes / kBytes,
                             .b_pitch = operands.b.pitch_bytes / kBytes,
                             .out_pitch = out.pitch_bytes / kBytes,
                             .m = shape.m,
                             .n = shape.n,
                             .k = shape.k,
                             .k_tiles = k_tiles,
                             .col_tiles = col_tiles};
  const auto blocks = static_cast<unsigned>(row_tiles * col_tiles);
  const dim3 threads(static_cast<unsigned>(side), static_cast<unsigned>(side));
  check_cuda(cudaMemsetAsync(flags, 0, static_cast<std::size_t>(cache.flag_bytes()), stream),
             "emptying the tile cache");
  choose_kernel<T>(variant, cache.side())<<<blocks, threads, 0, stream>>>(args);
  check_cuda(cudaGetLastError(), "launching a zero-copy kernel of the gemm benchmark");
}

}  // namespace

void launch(ZeroCopyVariant variant, const GemmOperands& operands, const TileCache& cache,
            const PixelView& out, DeviceStream stream) {
  out.type == PixelType::f32 ? launch_typed<float>(variant, operands, cache, out, stream)
                             : launch_typed<double>(variant, operands, cache, out, stream);
}

KernelFacts facts(ZeroCopyVariant variant, PixelType type, int side) {
  return type == PixelType::f32 ? facts_of(choose_kernel<float>(variant, side), side * side)
                                : facts_of(choose_kernel<double>(variant, side), side * side);
}

}  // namespace sepconv::gemm_variants
