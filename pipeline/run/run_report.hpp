// The report of a run, step by step.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/plan/plan.hpp"
#include "pipeline/run/timeline.hpp"

namespace sepconv {

/// Totals of one step: read, compute or write; on GPUs also upload and download. All but reading and writing
/// are separate for each of several devices ("upload cuda:1", "compute cpu").
struct StepReport {
  std::string name;
  double busy_seconds = 0;    ///< length of the union of its spans
  double hidden_seconds = 0;  ///< part of busy_seconds during which another step was busy too
  std::int64_t bytes = 0;     ///< bytes of pixels that it moved
  double operations = 0;      ///< fused multiply-adds
};

/// What one device of a run did.
struct LaneReport {
  std::string device;        ///< "cpu", "cuda:0"
  std::int64_t bands = 0;    ///< that it computed
  std::int64_t pixels = 0;   ///< of the result, in these bands
  std::string failure = {};  ///< why it ended early and others computed its bands; empty if it did not
};

/// Adds the counts of another run on the same devices.
void add_lanes(std::vector<LaneReport>& lanes, const std::vector<LaneReport>& other);

struct RunReport {
  Plan plan;
  BandRange bands;           ///< bands of the plan that were run
  std::int64_t rasters = 1;  ///< rasters run in sequence; all other fields are totals over them
  std::int64_t pixels = 0;   ///< pixels of the result
  double wall_seconds = 0;   ///< of the whole run, including startup
  /// From the call to the first band: allocation, device context and, if part of the call, planning.
  double startup_seconds = 0;
  std::vector<StepReport> steps;
  std::vector<LaneReport> lanes;         ///< one per device, the CPU first
  std::string bottleneck;                ///< name of the step with the most busy time
  std::string device;                    ///< "CPU, 2 threads, AVX3", "cuda:0 NVIDIA H200"
  std::int64_t bytes_stored = 0;         ///< of the source file, 0 if unknown
  std::int64_t peak_rss_bytes = 0;       ///< of the process until the end of the run
  std::string source_codec, sink_codec;  ///< SourceLayout::codec and SinkLayout::codec
  bool has_many_writers = false;         ///< the sink is several files, or several threads write to one
  Timeline timeline;
};

/// The totals of a track of the timeline, without operations.
StepReport step_report(const Timeline& timeline, const std::string& name);

/// "CPU, 2 threads, AVX3" or "cuda:0,1 NVIDIA H200"; `engine` is appended unless empty.
std::string device_text(const std::vector<int>& devices, int threads, std::string_view engine);

/// Suffix of the tracks of a device: " cuda:1", " cpu" for nullopt; empty if the plan has one device.
std::string track_suffix(const Plan& plan, std::optional<int> device);

/// part / whole, or 0 if `whole` is not positive.
inline double safe_ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

/// The gain from overlapping steps.
struct Overlap {
  /// Fraction of copy time (GPUs: upload and download; CPU: read and write) during which another step was
  /// busy.
  double copy_hidden = 0;
  /// Speed relative to sequential steps: sum of busy times / time from the first band to the end, at least 1.
  double speed_up = 1;
};
Overlap overlap_of(const RunReport& report);

}  // namespace sepconv
