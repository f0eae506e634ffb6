// Windows of a region, as the CUDA engine is asked for them. Private to this folder.
#pragma once

#include <span>

#include "sepconv/kernels/window/window_check.hpp"

namespace sepconv::engine {

struct WindowRequest {
  const Window& window;  ///< as within() has it
  const Border& border;
  const ConstRegion& in;
  const Region& out;
  Arena& arena;
  DeviceStream stream;
  std::span<const PointwiseOp> then;
};

/// One for each kind of elements (window_elements.cuh), in files of their own.
void window_halves(const WindowRequest& request);
void window_ordered(const WindowRequest& request, Arithmetic arithmetic);
void window_summed(const WindowRequest& request, Arithmetic arithmetic);

}  // namespace sepconv::engine
