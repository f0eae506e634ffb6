// Windows on the device: selects the elements that they are joined from.
#include <cuda_runtime.h>

#include "kernels/sliding_window/window_request.hpp"

namespace sepconv::engine {

void window(const Window& requested, const Border& border, const ConstRegion& in, const Region& out,
            Arithmetic arithmetic, Arena& arena, DeviceStream stream, std::span<const PointwiseOp> then) {
  const Arena::Scope scope(arena);
  const Window effective = clamp_radii(requested, out.image);
  const WindowRequest request{effective, border, in, out, arena, stream, then};
  if (effective.op == Window::Op::sum)
    box_sums(request, arithmetic);
  else if (arithmetic == Arithmetic::f32 && !is_floating(in.pixels.type) &&
           is_representable_as<float>(border, in.pixels.type))
    minmax_packed16(request);
  else
    minmax_windows(request, arithmetic);
  check_cuda(cudaGetLastError(), "launching windows");
}

}  // namespace sepconv::engine
