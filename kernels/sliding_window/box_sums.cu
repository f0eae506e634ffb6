#include "kernels/sliding_window/window_launch.cuh"

namespace sepconv::engine {

void box_sums(const WindowRequest& request, Arithmetic arithmetic) {
  visit_arithmetic(arithmetic, [&]<class A>(std::type_identity<A>) { Passes<Summed<A>>(request).run(); });
}

}  // namespace sepconv::engine
