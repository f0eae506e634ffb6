// Rates that this machine's processors and memory currently reach.
#pragma once

#include <cstdint>

#include "core/pixel_type.hpp"

namespace sepconv {

/// Whether other processes took processor time from the measurement. `processor_share` is that of a BestTime.
/// Such rates vary between measurements by far more than 10 %.
constexpr bool was_busy(double processor_share) noexcept { return processor_share < 0.8; }

/// Rates measured with `threads` threads until they no longer improve, some tenths of a second in all.
struct HostRates {
  double copy_bytes_per_second = 0;  ///< memory copy, read + written
  double fma_per_second = 0;         ///< f32 (or f64) fused multiply-adds
  double processor_share = 1;        ///< minimum over both measurements, see BestTime
};
/// Allocates 2 * `copy_bytes`. Buffers that fit a cache measure that cache; its rate differs between
/// processes with the physical addresses of their pages. Four times the last-level cache measures memory.
HostRates measure_host_limits(int threads, Arithmetic arithmetic = Arithmetic::f32,
                              std::int64_t copy_bytes = std::int64_t{16} << 20);

/// Only fma_per_second.
double measure_fma_rate(int threads, Arithmetic arithmetic);

}  // namespace sepconv
