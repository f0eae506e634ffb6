// Launches a given plan, for tests and measurements that choose the kernel themselves; transpose_device uses
// it, too.
#pragma once

#include "kernels/transpose/tiles.hpp"

namespace sepconv::transposing {

/// Enqueues the plan on `stream`; its matrices are memory of the current device. Throws DeviceError.
void launch(const CudaPlan& plan, DeviceStream stream);

}  // namespace sepconv::transposing
