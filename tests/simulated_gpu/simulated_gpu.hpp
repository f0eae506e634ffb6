// Internal to the simulated GPU.
#pragma once

#include <functional>

#include "sepconv/kernels/cuda/runtime.hpp"

namespace sepconv::simulated {

/// `task` runs on the stream's thread when all that was enqueued before is done.
void enqueue(DeviceStream stream, std::function<void()> task);

}  // namespace sepconv::simulated
