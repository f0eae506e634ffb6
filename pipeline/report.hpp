// The closing summary of a run, for people and for machines.
#pragma once

#include <string>

#include "sepconv/pipeline/run.hpp"

namespace sepconv {

/// Rates that this machine reaches now, measured in some tens of milliseconds with `threads` threads and 32 MiB.
struct HostLimits {
  double copy_bytes_per_second = 0;  ///< memory copy, read + written
  double fma_per_second = 0;         ///< f32 (or f64) fused multiply-adds
};
HostLimits measure_host_limits(int threads, Arithmetic arithmetic = Arithmetic::f32);

/// Several lines: per step busy time, rate, share of the limit, how much of the copying was hidden, the bottleneck, peak memory.
std::string summary(const RunReport& report, const HostLimits& limits);

/// The same facts and the plan as JSON text; schema in docs/formats.md.
std::string to_json(const RunReport& report, const HostLimits& limits);

/// The plan alone as JSON text: the same object as "plan" in the report.
std::string to_json(const Plan& plan);

/// Peak resident set of this process so far, in bytes.
std::int64_t peak_rss_bytes();

/// "1.50 GiB", "256 MiB": binary units, three digits.
std::string format_bytes(double bytes);

}  // namespace sepconv
