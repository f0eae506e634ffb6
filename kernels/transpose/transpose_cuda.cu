// Transposition on the device: launches what plan_transpose chose.
#include <cuda_runtime.h>

#include "core/error.hpp"
#include "kernels/transpose/pixel_kernel.cuh"
#include "kernels/transpose/planes_kernel.cuh"
#include "kernels/transpose/runs_kernel.cuh"
#include "kernels/transpose/shifted_kernel.cuh"
#include "kernels/transpose/small_kernel.cuh"
#include "kernels/transpose/staged_kernel.cuh"
#include "kernels/transpose/tall_skinny_kernel.cuh"
#include "kernels/transpose/tile_kernel.cuh"
#include "kernels/transpose/transpose_cuda.hpp"

namespace sepconv {
namespace transposing {
namespace {

template <class Tile>
void launch_tile(const Job& job, DeviceStream stream) {
  transpose_tile<Tile, false, false>
      <<<static_cast<unsigned>(job.grid.count()), Tile::kThreads, 0, stream>>>(job);
}

void launch_tile(const CudaPlan& plan, DeviceStream stream) {
  const Job& job = plan.job;
  switch (job.element_bytes) {
    case 1:
      return launch_tile<Tile1>(job, stream);
    case 2:
      return launch_tile<Tile2>(job, stream);
    case 4:
      if (plan.form == CudaPlan::Form::narrow) return launch_tile<NarrowTile4>(job, stream);
      if (plan.form == CudaPlan::Form::flat) return launch_tile<FlatTile4>(job, stream);
      if (plan.form == CudaPlan::Form::light) return launch_tile<LightTile4>(job, stream);
      return launch_tile<Tile4>(job, stream);
    case 8:
      return launch_tile<Tile8>(job, stream);
    default:
      return launch_tile<Tile16>(job, stream);
  }
}

template <class Tile>
void launch_shifted(const Job& job, DeviceStream stream) {
  transpose_shifted<Tile><<<static_cast<unsigned>(job.grid.count()), Tile::kThreads, 0, stream>>>(job);
}

void launch_shifted(const CudaPlan& plan, DeviceStream stream) {
  const Job& job = plan.job;
  switch (job.element_bytes) {
    case 1:
      return launch_shifted<Shifted1>(job, stream);
    case 2:
      return launch_shifted<Shifted2>(job, stream);
    case 4:
      if (plan.form == CudaPlan::Form::narrow) return launch_shifted<NarrowShifted4>(job, stream);
      return launch_shifted<Shifted4>(job, stream);
    default:
      return launch_shifted<Shifted8>(job, stream);
  }
}

template <class Tile>
void launch_pixels(const Job& job, DeviceStream stream) {
  transpose_pixels<Tile><<<static_cast<unsigned>(job.grid.count()), Tile::kThreads, 0, stream>>>(job);
}

void launch_pixels(const Job& job, DeviceStream stream) {
  switch (job.element_bytes) {
    case 3:
      return launch_pixels<Pixel3>(job, stream);
    case 6:
      return launch_pixels<Pixel6>(job, stream);
    default:
      return launch_pixels<Pixel12>(job, stream);
  }
}

template <int Element, int Planes, bool Shifted>
void launch_planes(const TallSkinnyJob& comb, DeviceStream stream) {
  const auto blocks = static_cast<unsigned>(comb.blocks());
  if (comb.rows_dense) {
    transpose_to_planes<Element, Planes, Shifted><<<blocks, kPlanesThreads, 0, stream>>>(comb);
  } else {
    transpose_from_planes<Element, Planes, Shifted><<<blocks, kPlanesThreads, 0, stream>>>(comb);
  }
}
template <int Element, int Planes>
void launch_planes(const TallSkinnyJob& comb, DeviceStream stream) {
  if constexpr (Planes <= kMaxShiftedPlanes) {
    if (comb.shifted) return launch_planes<Element, Planes, true>(comb, stream);
  }
  launch_planes<Element, Planes, false>(comb, stream);
}

template <int Element>
void launch_tall_skinny(const TallSkinnyJob& comb, DeviceStream stream) {
  const auto blocks = static_cast<unsigned>(comb.blocks());
  const auto shared = static_cast<std::size_t>(comb.shared_bytes);
  if (comb.rows_dense) {
    transpose_tall_skinny<Element><<<blocks, kTallSkinnyThreads, shared, stream>>>(comb);
  } else {
    transpose_short_wide<Element><<<blocks, kTallSkinnyThreads, shared, stream>>>(comb);
  }
}

template <int Element>
void launch_planes_or_tall_skinny(const TallSkinnyJob& comb, DeviceStream stream) {
  static_assert(kMaxPlanes == 8);
  switch (comb.planes) {
    case 2:
      return launch_planes<Element, 2>(comb, stream);
    case 3:
      return launch_planes<Element, 3>(comb, stream);
    case 4:
      return launch_planes<Element, 4>(comb, stream);
    case 5:
      return launch_planes<Element, 5>(comb, stream);
    case 6:
      return launch_planes<Element, 6>(comb, stream);
    case 7:
      return launch_planes<Element, 7>(comb, stream);
    case 8:
      return launch_planes<Element, 8>(comb, stream);
    default:
      return launch_tall_skinny<Element>(comb, stream);
  }
}

void launch_tall_skinny(const TallSkinnyJob& comb, DeviceStream stream) {
  switch (comb.job.element_bytes) {
    case 1:
      return launch_planes_or_tall_skinny<1>(comb, stream);
    case 2:
      return launch_planes_or_tall_skinny<2>(comb, stream);
    case 4:
      return launch_planes_or_tall_skinny<4>(comb, stream);
    case 8:
      return launch_planes_or_tall_skinny<8>(comb, stream);
    default:
      return launch_tall_skinny<16>(comb, stream);
  }
}

template <int Element, int Unit>
void launch_small(const SmallJob& small, DeviceStream stream) {
  if constexpr (Element <= 2) {
    if (small.micro) {
      transpose_small_micro<Element><<<static_cast<unsigned>(small.blocks), kSmallThreads,
                                       static_cast<std::size_t>(small.shared_bytes), stream>>>(small);
      return;
    }
  }
  transpose_small<Element, Unit><<<static_cast<unsigned>(small.blocks), kSmallThreads,
                                   static_cast<std::size_t>(small.shared_bytes), stream>>>(small);
}

/// Dispatch over the sizes and units that word_unit() of the planner supports.
void launch_small(const SmallJob& words, DeviceStream stream) {
  switch (words.job.element_bytes) {
    case 1:
      return launch_small<1, 1>(words, stream);
    case 2:
      return words.unit_bytes == 2 ? launch_small<2, 2>(words, stream) : launch_small<2, 1>(words, stream);
    case 3:
      return launch_small<3, 1>(words, stream);
    case 4:
      return launch_small<4, 4>(words, stream);
    case 6:
      return launch_small<6, 2>(words, stream);
    case 8:
      return launch_small<8, 4>(words, stream);
    case 12:
      return launch_small<12, 4>(words, stream);
    default:
      return launch_small<16, 4>(words, stream);
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
    case 2:
      transpose_shifted_runs<<<static_cast<unsigned>(runs.job.grid.count()), kRunsThreads, 0, stream>>>(runs);
      return;
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
      launch_tile(plan, stream);
      break;
    case CudaPlan::Kernel::shifted:
      launch_shifted(plan, stream);
      break;
    case CudaPlan::Kernel::pixels:
      launch_pixels(plan.job, stream);
      break;
    case CudaPlan::Kernel::comb:
      launch_tall_skinny(plan.comb, stream);
      break;
    case CudaPlan::Kernel::small:
      launch_small(plan.small, stream);
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

namespace engine {
void transpose(const TransposeShape& shape, ConstMatrices in, Matrices out, DeviceStream stream) {
  const transposing::CudaPlan plan = transposing::plan_transpose(shape, in, out);
  if (plan.kernel == transposing::CudaPlan::Kernel::none && shape.bytes() > 0) {
    throw InvalidArgument(
        "a matrix to transpose has too many rows or columns for one launch; transpose it in parts");
  }
  transposing::launch(plan, stream);
}
}  // namespace engine

}  // namespace sepconv
