// What the GPU itself says it did: CUPTI's activity records, on the program's own clock.
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
  bool page_locked = true;  ///< of a copy between host and device: the host's side is page-locked
  std::string name;         ///< of a kernel
};

/// Records the process's copies and kernels from start() to stop(). One at a time: CUPTI's callbacks carry no
/// pointer of ours.
///
///   CuptiTrace trace;                     // opens libcupti; available() says whether that worked
///   trace.start();
///   ... work on the GPU ...
///   trace.stop();
///   trace.records(origin);
class CuptiTrace {
 public:
  CuptiTrace();
  CuptiTrace(const CuptiTrace&) = delete;
  CuptiTrace& operator=(const CuptiTrace&) = delete;

  /// Empty if records can be had; otherwise why not.
  const std::string& problem() const noexcept { return problem_; }

  /// Throw std::runtime_error with CUPTI's own sentence.
  void start();
  void stop();

  /// All records between start() and stop(), none dropped, in seconds since `origin`.
  std::vector<ActivityRecord> records(std::chrono::steady_clock::time_point origin) const;

  /// How far the two clocks drifted apart between start() and stop(), and how closely a pair of readings of
  /// them was taken.
  double drift_seconds() const;
  double reading_seconds() const;

 private:
  /// Both clocks at one moment, in ns.
  struct Moment {
    std::int64_t steady = 0;
    std::int64_t cupti = 0;
    std::int64_t bracket = 0;  ///< time that the reading took
  };
  Moment read_clocks() const;

  std::string problem_;
  Moment first_, last_;
};

}  // namespace sepconv::test
