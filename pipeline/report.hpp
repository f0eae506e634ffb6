// The closing summary of a run, for people and for machines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sepconv/core/bytes_text.hpp"
#include "sepconv/kernels/cuda/device_limits.hpp"
#include "sepconv/pipeline/run.hpp"

namespace sepconv {

/// Rates that this machine reaches now, measured in some tens of milliseconds with `threads` threads and 32 MiB.
struct HostLimits {
  double copy_bytes_per_second = 0;  ///< memory copy, read + written
  double fma_per_second = 0;         ///< f32 (or f64) fused multiply-adds
};
HostLimits measure_host_limits(int threads, Arithmetic arithmetic = Arithmetic::f32);

/// The second of them alone, the best of so many rounds of about a millisecond.
double measure_fma_rate(int threads, Arithmetic arithmetic, int rounds);

/// What a run is held against: its host's rates and those of the (first) GPU that computed.
struct RunLimits {
  HostLimits host;
  DeviceLimits device{};
};
/// Measures what a run of this plan needs, now: some tens of milliseconds for the host, some tenths of a second for a GPU, inside
/// the plan's ceilings. The rates of a GPU that cannot be measured are 0.
RunLimits measure_limits(const Plan& plan);

/// What a track of the timeline shows, operations aside.
StepReport step_report(const Timeline& timeline, const std::string& name);

/// "CPU, 2 threads, AVX3", "cuda:0,1 NVIDIA H200", what computes there after a comma if it is named.
std::string device_text(const std::vector<int>& devices, int threads, std::string_view engine);

/// What going on at the same time brought.
struct Overlap {
  double copy_hidden = 0;  ///< part of the copying (GPUs: upload and download; CPU: read and write) while another step was busy
  double speed_up = 0;     ///< against one step at a time: sum of all busy times over the time from the first band to the end
};
Overlap overlap_of(const RunReport& report);

/// Several lines: per step busy time, rate, share of the limit, how much of the copying was hidden, the bottleneck, peak memory.
std::string summary(const RunReport& report, const RunLimits& limits);

/// The same facts and the plan as JSON text; schema in docs/formats.md.
std::string to_json(const RunReport& report, const RunLimits& limits);

/// The plan alone as JSON text: the same object as "plan" in the report.
std::string to_json(const Plan& plan);

/// Peak resident set of this process so far, in bytes.
std::int64_t peak_rss_bytes();

}  // namespace sepconv
