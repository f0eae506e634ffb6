// Launches of the ladder's kernels on operands in the GPU's memory: one thread an element -> tiles in shared
// memory -> sums in registers.
#include "bench/gemm/element_kernels.cuh"
#include "bench/gemm/kernel_facts.cuh"
#include "bench/gemm/register_kernel.cuh"
#include "core/geometry.hpp"

namespace sepconv::gemm_ladders {
namespace {

/// A kernel, and the part of the result that a block of it makes.
template <class T>
struct Choice {
  void (*kernel)(const Work<T> work);
  dim3 threads;
  int block_rows, block_cols;
};

template <class T, bool kTransA, bool kTransB>
Choice<T> choose(GemmRung rung) {
  const dim3 square(kElementSide, kElementSide);
  switch (rung) {
    case GemmRung::thread_an_element:
      return {thread_an_element<T, kTransA, kTransB>, square, kElementSide, kElementSide};
    case GemmRung::shared_tiles:
      return {shared_tiles<T, kTransA, kTransB>, square, kElementSide, kElementSide};
    default: {
      using Shape = RegisterTiles<T>;
      return {register_tiles<T, kTransA, kTransB>, dim3(Shape::kThreads), Shape::kBlockRows,
              Shape::kBlockCols};
    }
  }
}

template <class T>
Choice<T> choose(GemmRung rung, bool trans_a, bool trans_b) {
  if (trans_a) return trans_b ? choose<T, true, true>(rung) : choose<T, true, false>(rung);
  return trans_b ? choose<T, false, true>(rung) : choose<T, false, false>(rung);
}

bool has_vectors(const ConstPixelView& view) {
  return (static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(view.data)) | view.pitch_bytes) % 16 == 0;
}

template <class T>
void launch_typed(GemmRung rung, const GemmShape& shape, const GemmOperands& operands, const PixelView& out,
                  DeviceStream stream) {
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(T));
  const Choice<T> choice = choose<T>(rung, operands.trans_a, operands.trans_b);
  const std::int64_t col_tiles = ceil_div(shape.n, choice.block_cols);
  const Work<T> work{.a = reinterpret_cast<const T*>(operands.a.data),
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
                     .a_vectors = has_vectors(operands.a),
                     .b_vectors = has_vectors(operands.b),
                     .out_vectors = has_vectors(out)};
  const auto blocks = static_cast<unsigned>(ceil_div(shape.m, choice.block_rows) * col_tiles);
  choice.kernel<<<blocks, choice.threads, 0, stream>>>(work);
  check_cuda(cudaGetLastError(), "launching a kernel of the gemm ladder");
}

template <class T>
KernelFacts facts_typed(GemmRung rung, bool trans_a, bool trans_b) {
  const Choice<T> choice = choose<T>(rung, trans_a, trans_b);
  return facts_of(choice.kernel, static_cast<int>(choice.threads.x * choice.threads.y));
}

}  // namespace

void launch(GemmRung rung, const GemmShape& shape, const GemmOperands& operands, const PixelView& out,
            DeviceStream stream) {
  out.type == PixelType::f32 ? launch_typed<float>(rung, shape, operands, out, stream)
                             : launch_typed<double>(rung, shape, operands, out, stream);
}

KernelFacts facts(GemmRung rung, PixelType type, bool trans_a, bool trans_b) {
  return type == PixelType::f32 ? facts_typed<float>(rung, trans_a, trans_b)
                                : facts_typed<double>(rung, trans_a, trans_b);
}

}  // namespace sepconv::gemm_ladders
