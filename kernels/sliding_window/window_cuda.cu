// Windows on the device: which elements they are joined of.
#include <cuda_runtime.h>

#include "kernels/sliding_window/window_request.hpp"

namespace sepconv::engine {

void window(const Window& asked, const Border& border, const ConstRegion& in, const Region& out,
            Arithmetic arithmetic, Arena& arena, DeviceStream stream, std::span<const PointwiseOp> then) {
  const Arena::Scope scope(arena);
  const Window made = within(asked, out.image);
  const WindowRequest request{made, border, in, out, arena, stream, then};
  if (made.op == Window::Op::sum)
    box_sums(request, arithmetic);
  else if (arithmetic == Arithmetic::f32 && !is_floating(in.pixels.type) &&
           are_pixels<float>(border, in.pixels.type))
    minmax_packed16(request);
  else
    minmax_windows(request, arithmetic);
  check_cuda(cudaGetLastError(), "launching windows");
}

}  // namespace sepconv::engine
