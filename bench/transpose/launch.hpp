// What the ladder's checks hand to its CUDA side. Internal to bench/transpose/.
#pragma once

#include "bench/transpose/ladder.hpp"

namespace sepconv::transpose_ladders {

/// Enqueue the kernel. Everything has been checked, nothing is empty. Throw CudaError.
void launch(TransposeRung rung, const TransposeShape& shape, ConstMatrices in, Matrices out,
            DeviceStream stream);
/// All rungs but tile_2d_32 and tile_2d_8.
void launch(PermuteRung rung, const TensorExtent& extent, const Permutation& permutation,
            std::int64_t element_bytes, const TileExtent& tile, const std::byte* in, std::byte* out,
            DeviceStream stream);

}  // namespace sepconv::transpose_ladders
