// What this machine's processors and memory reach now.
#pragma once

#include "sepconv/core/pixel_type.hpp"

namespace sepconv {

/// Rates that this machine reaches now, measured with `threads` threads and 32 MiB until they get no better:
/// 20 to 250 milliseconds each.
struct HostLimits {
  double copy_bytes_per_second = 0;  ///< memory copy, read + written
  double fma_per_second = 0;         ///< f32 (or f64) fused multiply-adds
};
HostLimits measure_host_limits(int threads, Arithmetic arithmetic = Arithmetic::f32);

/// The second of them alone.
double measure_fma_rate(int threads, Arithmetic arithmetic);

}  // namespace sepconv
