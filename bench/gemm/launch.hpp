// What the ladder's checks hand to its CUDA side. Internal to bench/gemm/.
#pragma once

#include "bench/gemm/ladder.hpp"

namespace sepconv::gemm_ladders {

/// Enqueue the kernel. Everything has been checked, the result is not empty. Throw CudaError.
void launch(GemmRung rung, const GemmShape& shape, const GemmOperands& operands, const PixelView& out,
            DeviceStream stream);
/// Throws InvalidArgument too for operands that the device has no address for.
void launch(ZeroCopyRung rung, const GemmOperands& operands, const TileCache& cache, const PixelView& out,
            DeviceStream stream);

}  // namespace sepconv::gemm_ladders
