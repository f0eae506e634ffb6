// Transposition on the device: launches what plan_transpose chose.
#include <cuda_runtime.h>

#include "sepconv/core/error.hpp"
#include "sepconv/kernels/transpose/permutation.hpp"
#include "sepconv/kernels/transpose/runs_kernel.cuh"
#include "sepconv/kernels/transpose/staged_kernel.cuh"
#include "sepconv/kernels/transpose/tile_kernel.cuh"
#include "sepconv/kernels/transpose/transpose_check.hpp"
#include "sepconv/kernels/transpose/transpose_cuda.hpp"

namespace sepconv {
namespace transposing {
namespace {

template <class Tile>
void launch_tile(const Job& job, DeviceStream stream) {
  transpose_tile<Tile, false, false>
      <<<static_cast<unsigned>(job.grid.count()), Tile::kThreads, 0, stream>>>(job);
}

void launch_tile(const Job& job, DeviceStream stream) {
  switch (job.element_bytes) {
    case 1:
      return launch_tile<Tile1>(job, stream);
    case 2:
      return launch_tile<Tile2>(job, stream);
    case 4:
      return launch_tile<Tile4>(job, stream);
    case 8:
      return launch_tile<Tile8>(job, stream);
    default:
      return launch_tile<Tile16>(job, stream);
  }
}

template <int Unit>
void launch_staged(const StagedJob& staged, DeviceStream stream) {
  transpose_staged<Unit><<<static_cast<unsigned>(staged.job.grid.count()), kStagedThreads,
                           static_cast<std::size_t>(staged.shared_bytes), stream>>>(staged);
}

void launch_staged(const StagedJob& staged, DeviceStream stream) {
  switch (staged.unit_bytes) {
    case 1:
      return launch_staged<1>(staged, stream);
    case 2:
      return launch_staged<2>(staged, stream);
    case 4:
      return launch_staged<4>(staged, stream);
    case 8:
      return launch_staged<8>(staged, stream);
    default:
      return launch_staged<16>(staged, stream);
  }
}

template <int Unit>
void launch_runs(const RunsJob& runs, DeviceStream stream) {
  transpose_runs<Unit><<<static_cast<unsigned>(runs.job.grid.count()), kRunsThreads, 0, stream>>>(runs);
}

void launch_runs(const RunsJob& runs, DeviceStream stream) {
  switch (runs.unit_bytes) {
    case 1:
      return launch_runs<1>(runs, stream);
    case 2:
      return launch_runs<2>(runs, stream);
    case 4:
      return launch_runs<4>(runs, stream);
    case 8:
      return launch_runs<8>(runs, stream);
    default:
      return launch_runs<16>(runs, stream);
  }
}

}  // namespace

void launch(const CudaPlan& plan, DeviceStream stream) {
  switch (plan.kernel) {
    case CudaPlan::Kernel::none:
      return;
    case CudaPlan::Kernel::copy:
      return copy_rows(plan.job.out, 0, plan.job.in, 0, plan.job.element_bytes, 1, stream);
    case CudaPlan::Kernel::tile:
      launch_tile(plan.job, stream);
      break;
    case CudaPlan::Kernel::staged:
      launch_staged(plan.staged, stream);
      break;
    case CudaPlan::Kernel::runs:
      launch_runs(plan.runs, stream);
      break;
  }
  check_cuda(cudaGetLastError(), "launching a transposition");
}

}  // namespace transposing

void transpose_cuda(const TransposeShape& shape, ConstMatrices in, Matrices out, DeviceStream stream) {
  check_transpose(shape);
  const transposing::CudaPlan plan = transposing::plan_transpose(shape, in, out);
  if (plan.kernel == transposing::CudaPlan::Kernel::none && shape.bytes() > 0) {
    throw InvalidArgument(
        "a matrix to transpose has too many rows or columns for one launch; transpose it in parts");
  }
  transposing::launch(plan, stream);
}

void permute_cuda(const TensorExtent& extent, const Permutation& permutation, std::int64_t element_bytes,
                  const std::byte* in, std::byte* out, DeviceStream stream) {
  const PermutationAsTranspose work = as_transpose(extent, permutation, element_bytes);
  transpose_cuda(work.shape, {in, work.in_pitch_bytes, work.in_item_bytes},
                 {out, work.out_pitch_bytes, work.out_item_bytes}, stream);
}

}  // namespace sepconv
