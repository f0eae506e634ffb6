// What a run did, step by step.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/plan/plan.hpp"
#include "pipeline/run/timeline.hpp"

namespace sepconv {

/// What one step did: read, compute, write; on GPUs also upload and download, on each of several apart
/// ("upload cuda:1").
struct StepReport {
  std::string name;
  double busy_seconds = 0;    ///< length of the union of its spans
  double hidden_seconds = 0;  ///< part of busy_seconds during which another step was busy too
  std::int64_t bytes = 0;     ///< pixels' bytes moved by it
  double operations = 0;      ///< fused multiply-adds
};

struct RunReport {
  Plan plan;
  BandRange bands;             ///< of the plan, that were run
  std::int64_t rasters = 1;    ///< that were run by it, one after another; all that follows is of them all
  std::int64_t pixels = 0;     ///< of the result, in these
  double wall_seconds = 0;     ///< of the whole run, the start included
  double startup_seconds = 0;  ///< from the call to the first band: memory, a device's context, and the plan
                               ///< if it was made in the same call
  std::vector<StepReport> steps;
  std::string bottleneck;                ///< name of the step with the most busy time
  std::string device;                    ///< "CPU, 2 threads, AVX3", "cuda:0 NVIDIA H200"
  std::int64_t bytes_stored = 0;         ///< of the source file, 0 if unknown
  std::int64_t peak_rss_bytes = 0;       ///< of the process up to the run's end
  std::string source_codec, sink_codec;  ///< what reading undid and writing did: SourceLayout::codec
  bool sink_has_many_files = false;      ///< SinkLayout::many_files
  Timeline timeline;
};

/// What a track of the timeline shows, operations aside.
StepReport step_report(const Timeline& timeline, const std::string& name);

/// "CPU, 2 threads, AVX3", "cuda:0,1 NVIDIA H200", what computes there after a comma if it is named.
std::string device_text(const std::vector<int>& devices, int threads, std::string_view engine);

/// part / whole, or 0 of nothing.
inline double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

/// What going on at the same time brought.
struct Overlap {
  double copy_hidden = 0;  ///< part of the copying (GPUs: upload and download; CPU: read and write) while
                           ///< another step was busy
  /// Against one step at a time: sum of all busy times over the time from the first band to the end; 1 where
  /// they do not fill that.
  double speed_up = 1;
};
Overlap overlap_of(const RunReport& report);

}  // namespace sepconv
