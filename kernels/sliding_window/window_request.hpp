// Arguments of window_device for the CUDA engine. Private to this folder.
#pragma once

#include <span>

#include "kernels/sliding_window/window_check.hpp"

namespace sepconv::engine {

struct WindowRequest {
  const Window& window;  ///< result of clamp_radii()
  const Border& border;
  const ConstRegion& in;
  const Region& out;
  Arena& arena;
  DeviceStream stream;
  std::span<const PointwiseOp> then;
};

/// One for each kind of elements (window_elements.cuh), in separate files.
void minmax_packed16(const WindowRequest& request);
void minmax_windows(const WindowRequest& request, Arithmetic arithmetic);
void box_sums(const WindowRequest& request, Arithmetic arithmetic);

}  // namespace sepconv::engine
