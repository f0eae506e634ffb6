#include "kernels/sliding_window/window_launch.cuh"

namespace sepconv::engine {

void minmax_packed16(const WindowRequest& request) { Passes<Packed16>(request).run(); }

}  // namespace sepconv::engine
