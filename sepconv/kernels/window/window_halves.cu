#include "sepconv/kernels/window/window_launch.cuh"

namespace sepconv::engine {

void window_halves(const WindowRequest& request) { Passes<Halves>(request).run(); }

}  // namespace sepconv::engine
