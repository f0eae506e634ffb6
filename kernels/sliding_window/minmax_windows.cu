#include "kernels/sliding_window/window_launch.cuh"

namespace sepconv::engine {

void minmax_windows(const WindowRequest& request, Arithmetic arithmetic) {
  visit_arithmetic(arithmetic,
                   [&]<class A>(std::type_identity<A>) { Passes<OrderedBits<A>>(request).run(); });
}

}  // namespace sepconv::engine
