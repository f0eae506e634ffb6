// Launches the kernels on operands in the GPU's memory: one thread per element -> tiles in shared memory ->
// sums in registers.
#include "bench/gemm/element_kernels.cuh"
#include "bench/gemm/kernel_facts.cuh"
#include "bench/gemm/register_kernel.cuh"
#include "core/geometry.hpp"

namespace sepconv::gemm_variants {
namespace {

/// A kernel, its block size and the tile of the result that a block computes.
template <class T>
struct KernelChoice {
  void (*kernel)(const ProductArgs<T> args);
  dim3 threads;
  int block_rows, block_cols;
};

template <class T, bool kTransA, bool kTransB>
KernelChoice<T> choose_kernel(GemmVariant variant) {
  const dim3 square(kElementSide, kElementSide);
  switch (variant) {
    case GemmVariant::thread_per_element:
      return {thread_per_element<T, kTransA, kTransB>, square, kElementSide, kElementSide};
    case GemmVariant::shared_tiles:
      return {shared_tiles<T, kTransA, kTransB>, square, kElementSide, kElementSide};
    default: {
      using Shape = RegisterTiles<T>;
      return {register_tiles<T, kTransA, kTransB>, dim3(Shape::kThreads), Shape::kBlockRows,
              Shape::kBlockCols};
    }
  }
}

template <class T>
KernelChoice<T> choose_kernel(GemmVariant variant, bool trans_a, bool trans_b) {
  if (trans_a)
    return trans_b ? choose_kernel<T, true, true>(variant) : choose_kernel<T, true, false>(variant);
  return trans_b ? choose_kernel<T, false, true>(variant) : choose_kernel<T, false, false>(variant);
}

bool is_vectorizable(const ConstPixelView& view) {
  return (static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(view.data)) | view.pitch_bytes) % 16 == 0;
}

template <class T>
void launch_typed(GemmVariant variant, const GemmShape& shape, const GemmOperands& operands,
                  const PixelView& out, DeviceStream stream) {
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(T));
  const KernelChoice<T> choice = choose_kernel<T>(variant, operands.trans_a, operands.trans_b);
  const std::int64_t col_tiles = ceil_div(shape.n, choice.block_cols);
  const ProductArgs<T> args{
      .a = reinterpret_cast<const T*>(operands.a.data),
      .b = reinterpret_cast<const T*>(operands.b.data),
      .added = operands.added ? reinterpret_cast<const T*>(operands.added->data) : nullptr,
      .out = reinterpret_cast<T*>(out.data),
      .a_pitch = operands.a.pitch_bytes / kBytes,
      .b_pitch = operands.b.pitch_bytes / kBytes,
      .added_pitch = operands.added ? operands.added->pitch_bytes / kBytes : 0,
      .out_pitch = out.pitch_bytes / kBytes,
      .m = shape.m,
      .n = shape.n,
      .k = shape.k,
      .col_tiles = col_tiles,
      .a_vectorizable = is_vectorizable(operands.a),
      .b_vectorizable = is_vectorizable(operands.b),
      .out_vectorizable = is_vectorizable(out)};
  const auto blocks = static_cast<unsigned>(ceil_div(shape.m, choice.block_rows) * col_tiles);
  choice.kernel<<<blocks, choice.threads, 0, stream>>>(args);
  check_cuda(cudaGetLastError(), "launching a kernel of the gemm benchmark");
}

template <class T>
KernelFacts facts_typed(GemmVariant variant, bool trans_a, bool trans_b) {
  const KernelChoice<T> choice = choose_kernel<T>(variant, trans_a, trans_b);
  return facts_of(choice.kernel, static_cast<int>(choice.threads.x * choice.threads.y));
}

}  // namespace

void launch(GemmVariant variant, const GemmShape& shape, const GemmOperands& operands, const PixelView& out,
            DeviceStream stream) {
  out.type == PixelType::f32 ? launch_typed<float>(variant, shape, operands, out, stream)
                             : launch_typed<double>(variant, shape, operands, out, stream);
}

KernelFacts facts(GemmVariant variant, PixelType type, bool trans_a, bool trans_b) {
  return type == PixelType::f32 ? facts_typed<float>(variant, trans_a, trans_b)
                                : facts_typed<double>(variant, trans_a, trans_b);
}

}  // namespace sepconv::gemm_variants
