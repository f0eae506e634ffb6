// A product on a GPU: panels go up, are multiplied, and tiles come down, all at once. Internal to run_gemm().
#pragma once

#include <functional>
#include <vector>

#include "pipeline/gemm/gemm_memory.hpp"
#include "pipeline/machine/thread_pool.hpp"
#include "pipeline/run/device_clock.hpp"
#include "pipeline/run/run_state.hpp"

namespace sepconv {

/// Three streams, ordered by events alone, as in DeviceRing:
///
///   upload    step i's panels, and what is added where it is the first of its tile, once the steps that used
///   their memory are computed compute   step i, once its panels are there; the first of a tile once the tile
///   before in the same memory has been downloaded download  a tile, once its last step is computed: as a
///   whole where the result lies in page-locked memory, else in strips that the writer takes
///
/// The reader fills page-locked panels where a file is not page-locked memory itself, or has short rows there
/// (GemmPlan::stages_a).
class GemmCudaRun {
 public:
  /// Allocates everything on plan.devices.front(), which is current. Throws OutOfMemory before anything is
  /// read, and CudaError.
  GemmCudaRun(const GemmFiles& files, const GemmPlan& plan, const ExecutionOptions& options);
  GemmCudaRun(GemmCudaRun&&) = delete;
  /// Waits for the work of its own streams.
  ~GemmCudaRun();

  void execute(Timeline& timeline);
  /// What it computes, or reads and writes, with: the plan's threads, or as many as there were to be had.
  int threads() const noexcept { return pool_.concurrency(); }

 private:
  /// For one step or strip; used again for a later one when it has passed and is recorded.
  struct StepEvents {
    DeviceClock::Interval upload, compute;
  };
  /// A part of a tile that comes down at once.
  struct Strip {
    std::int64_t step;  // the last of its tile
    Rect rect;          // of the result
    bool last;          // of its tile
  };

  static std::vector<Strip> strips_of(const std::vector<GemmStep>& steps, std::int64_t strip_rows);
  void read_all(Timeline& timeline);
  void upload_all(Timeline& timeline);
  void upload(std::int64_t index, Timeline& timeline);
  void upload_added(const GemmStep& step, Timeline& timeline);
  void compute(std::int64_t index);
  void download_all();
  void write_all(Timeline& timeline);
  void play(const std::function<void()>& role) noexcept;
  /// Makes `stream` wait for a step's computation.
  void wait_for_step(std::int64_t index, DeviceStream stream) const;
  void retire(std::int64_t index, Timeline& timeline);

  std::int64_t a_bytes(const GemmStep& step) const {
    return stored_a(plan_.op, step).area() * plan_.element_bytes();
  }
  std::int64_t b_bytes(const GemmStep& step) const {
    return step.loads_b ? stored_b(plan_.op, step).area() * plan_.element_bytes() : 0;
  }
  PixelView staged_a(std::int64_t index) const;
  PixelView staged_b(std::int64_t index) const;
  PixelView strip_view(std::int64_t strip) const;
  StepEvents& events_of(std::int64_t index) {
    return events_[static_cast<std::size_t>(index) % events_.size()];
  }
  const GemmStep& step(std::int64_t index) const { return steps_[static_cast<std::size_t>(index)]; }

  GemmFiles files_;
  const GemmPlan& plan_;
  const ExecutionOptions& options_;
  std::vector<GemmStep> steps_;
  std::vector<Strip> strips_;
  GemmMemory device_;
  Buffer staged_a_, staged_b_, staged_added_,
      staged_strips_;  // page-locked; empty where panels go from and to where files are
  Stream upload_{Stream::Priority::high}, compute_, download_;
  std::vector<StepEvents> events_;
  std::vector<DeviceClock::Interval> strip_events_;
  std::vector<Event> tile_left_;
  DeviceClock clock_;
  RunState state_;
  std::int64_t read_ = 0;        // steps whose panels are in page-locked memory; these under the state's lock
  std::int64_t enqueued_ = 0;    // steps
  std::int64_t tiles_left_ = 0;  // tiles whose download is enqueued
  std::int64_t strips_left_ = 0;  // strips likewise
  std::int64_t written_ = 0;      // strips
  ThreadPool pool_;
};

}  // namespace sepconv
