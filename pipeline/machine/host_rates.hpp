// What this machine's processors and memory reach now.
#pragma once

#include <cstdint>

#include "core/pixel_type.hpp"

namespace sepconv {

/// Whether other work kept the processors from what was measured, with the share of a BestTime. Rates that
/// were measured so differ from one time to the next by far more than 10 %.
constexpr bool was_busy(double processor_share) noexcept { return processor_share < 0.8; }

/// Rates that this machine reaches now, measured with `threads` threads until they get no better: some tenths
/// of a second in all.
struct HostRates {
  double copy_bytes_per_second = 0;  ///< memory copy, read + written
  double fma_per_second = 0;         ///< f32 (or f64) fused multiply-adds
  double processor_share = 1;        ///< the smallest that measuring one of them had, see BestTime
};
/// The copy takes two times `copy_bytes`. What fits a cache measures that cache, which differs from one start
/// of a process to the next by where its pages lie; four times the last-level cache measures memory.
HostRates measure_host_limits(int threads, Arithmetic arithmetic = Arithmetic::f32,
                              std::int64_t copy_bytes = std::int64_t{16} << 20);

/// The second of them alone.
double measure_fma_rate(int threads, Arithmetic arithmetic);

}  // namespace sepconv
