// Measures the peak rates of this machine's memory and arithmetic units. The run summary compares a run with
// them.
#include "pipeline/machine/host_rates.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

#include "core/memory.hpp"
#include "pipeline/machine/min_time.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pipeline/machine/host_rates.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes first: it includes this file once more for every instruction set.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sepconv {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Fused multiply-adds on ten independent registers, which hide the latency (4 cycles) and keep both ports of
/// current processors busy. Returns a value that depends on all of them, so that the compiler does not remove
/// them.
template <class T>
T fma_burst(std::int64_t steps, T factor) {
  const hn::ScalableTag<T> tag;
  const auto m = hn::Set(tag, factor);
  auto a = hn::Iota(tag, 0), b = hn::Iota(tag, 1), c = hn::Iota(tag, 2), d = hn::Iota(tag, 3),
       e = hn::Iota(tag, 4);
  auto f = hn::Iota(tag, 5), g = hn::Iota(tag, 6), h = hn::Iota(tag, 7), i = hn::Iota(tag, 8),
       j = hn::Iota(tag, 9);
  for (std::int64_t step = 0; step < steps; ++step) {
    a = hn::MulAdd(a, m, m), b = hn::MulAdd(b, m, m), c = hn::MulAdd(c, m, m), d = hn::MulAdd(d, m, m);
    e = hn::MulAdd(e, m, m), f = hn::MulAdd(f, m, m), g = hn::MulAdd(g, m, m), h = hn::MulAdd(h, m, m);
    i = hn::MulAdd(i, m, m), j = hn::MulAdd(j, m, m);
  }
  const auto upper = hn::Add(hn::Add(hn::Add(a, b), hn::Add(c, d)), e);
  const auto lower = hn::Add(hn::Add(hn::Add(f, g), hn::Add(h, i)), j);
  return hn::GetLane(hn::SumOfLanes(tag, hn::Add(upper, lower)));
}

float fma_burst_f32(std::int64_t steps, float factor) { return fma_burst<float>(steps, factor); }
double fma_burst_f64(std::int64_t steps, double factor) { return fma_burst<double>(steps, factor); }
std::int64_t lanes_f32() { return static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<float>())); }
std::int64_t lanes_f64() { return static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<double>())); }

}  // namespace HWY_NAMESPACE
}  // namespace sepconv
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sepconv {

HWY_EXPORT(fma_burst_f32);
HWY_EXPORT(fma_burst_f64);
HWY_EXPORT(lanes_f32);
HWY_EXPORT(lanes_f64);

namespace {

// Bytes copied per round: about a millisecond with many threads. The barrier is then a small part of a round,
// and threads are likely to keep their processors during it even if other processes run.
constexpr std::int64_t kRoundBytes = std::int64_t{64} << 20;
constexpr std::int64_t kFmaSteps = 200'000;  // on each of kRegisters registers: about a millisecond
constexpr int kRegisters = 10;

double fma_rate(ThreadPool& pool, Arithmetic arithmetic, double& processor_share) {
  std::atomic<double> sink = 0;
  const bool is_f64 = arithmetic == Arithmetic::f64;
  const BestTime best = best_round(pool, [&](int) {
    sink = is_f64 ? HWY_DYNAMIC_DISPATCH(fma_burst_f64)(kFmaSteps, 0.5)
                  : static_cast<double>(HWY_DYNAMIC_DISPATCH(fma_burst_f32)(kFmaSteps, 0.5F));
  });
  const std::int64_t lanes = is_f64 ? HWY_DYNAMIC_DISPATCH(lanes_f64)() : HWY_DYNAMIC_DISPATCH(lanes_f32)();
  processor_share = std::min(processor_share, best.processor_share);
  return static_cast<double>(lanes * kRegisters * kFmaSteps * pool.concurrency()) / best.seconds;
}

}  // namespace

HostRates measure_host_limits(int threads, Arithmetic arithmetic, std::int64_t copy_bytes) {
  ThreadPool pool({.threads = std::max(threads, 1)});
  HostRates limits;
  const std::int64_t thread_bytes = copy_bytes / pool.concurrency();
  const std::int64_t piece = std::min(thread_bytes, kRoundBytes / pool.concurrency());
  const std::int64_t copies = std::max<std::int64_t>(1, kRoundBytes / copy_bytes);
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(pool.concurrency()));  // of each thread's next
                                                                                    // piece within its part
  const Buffer from(copy_bytes), to(copy_bytes);
  pool.for_each(pool.concurrency(),
                [&](std::int64_t thread, int) {  // untouched pages all map to the same zero
                                                 // page
                  std::memset(from.data() + thread * thread_bytes, 1, static_cast<std::size_t>(thread_bytes));
                });
  const BestTime copied = best_round(pool, [&](int thread) {
    std::int64_t& offset = offsets[static_cast<std::size_t>(thread)];
    for (std::int64_t copy = 0; copy < copies; ++copy) {
      const std::int64_t begin = thread * thread_bytes + offset;
      std::memcpy(to.data() + begin, from.data() + begin, static_cast<std::size_t>(piece));
      offset = offset + 2 * piece <= thread_bytes ? offset + piece : 0;
    }
  });
  limits.copy_bytes_per_second =
      2.0 * static_cast<double>(copies * piece * pool.concurrency()) / copied.seconds;
  limits.processor_share = copied.processor_share;
  limits.fma_per_second = fma_rate(pool, arithmetic, limits.processor_share);
  return limits;
}

double measure_fma_rate(int threads, Arithmetic arithmetic) {
  ThreadPool pool(threads);
  double processor_share = 1;
  return fma_rate(pool, arithmetic, processor_share);
}

}  // namespace sepconv
#endif
