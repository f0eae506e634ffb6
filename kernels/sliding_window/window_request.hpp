// Windows of a region, as the CUDA engine is asked for them. Private to this folder.
#pragma once

#include <span>

#include "kernels/sliding_window/window_check.hpp"

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
void minmax_packed16(const WindowRequest& request);
void minmax_windows(const WindowRequest& request, Arithmetic arithmetic);
void box_sums(const WindowRequest& request, Arithmetic arithmetic);

}  // namespace sepconv::engine
