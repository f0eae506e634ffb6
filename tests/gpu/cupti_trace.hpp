// CUPTI's activity records of a GPU, on the program's steady clock.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace sepconv::test {

enum class Activity : std::uint8_t { host_to_device, device_to_host, on_device, kernel };

/// One copy or kernel as CUPTI recorded it.
struct ActivityRecord {
  Activity activity = Activity::kernel;
  double begin = 0;  ///< seconds since the origin given to CuptiTrace::records()
  double end = 0;
  std::int64_t bytes = 0;   ///< of a copy
  bool page_locked = true;  ///< of a copy between host and device: whether the host memory is page-locked
  std::string name;         ///< of a kernel
};

/// Records the process's copies and kernels from start() to stop(). Only one object may exist: CUPTI's
/// callbacks carry no user pointer.
///
///   CuptiTrace trace;                     // opens libcupti; problem() is empty if that worked
///   trace.start();
///   ... work on the GPU ...
///   trace.stop();
///   trace.records(origin);
class CuptiTrace {
 public:
  CuptiTrace();
  CuptiTrace(const CuptiTrace&) = delete;
  CuptiTrace& operator=(const CuptiTrace&) = delete;

  /// Empty if CUPTI is usable; otherwise the reason why not.
  const std::string& problem() const noexcept { return problem_; }

  /// start() and stop() throw std::runtime_error with CUPTI's message.
  void start();
  void stop();

  /// All records between start() and stop(), in seconds since `origin`. Throws std::runtime_error if CUPTI
  /// dropped any.
  std::vector<ActivityRecord> records(std::chrono::steady_clock::time_point origin) const;

  /// The drift between the two clocks from start() to stop(), and the duration of a paired reading of both
  /// clocks.
  double drift_seconds() const;
  double reading_seconds() const;

 private:
  /// Both clocks at one moment, in ns.
  struct ClockReading {
    std::int64_t steady = 0;
    std::int64_t cupti = 0;
    std::int64_t duration_ns = 0;  ///< duration of the paired reading
  };
  ClockReading read_clocks() const;

  std::string problem_;
  ClockReading first_, last_;
};

}  // namespace sepconv::test
