// A product on a GPU: panels are uploaded and multiplied, and tiles downloaded, concurrently. Internal to
// run_gemm().
#pragma once

#include <functional>
#include <vector>

#include "pipeline/gemm/gemm_memory.hpp"
#include "pipeline/machine/thread_pool.hpp"
#include "pipeline/run/device_clock.hpp"
#include "pipeline/run/run_state.hpp"

namespace sepconv {

/// Three streams, synchronised by events alone, as in DeviceRing:
///
///   upload    step i's panels, once the steps that used their memory are computed; before the first step of
///             a tile also the added matrix
///   compute   step i, once its panels are uploaded; the first step of a tile also waits until the previous
///             tile in the same memory has been downloaded
///   download  a tile, once its last step is computed: as a whole if the result is in page-locked memory,
///             else in strips for the writer
///
/// The reader copies panels to page-locked memory if the matrix is not in such memory or has short rows
/// (GemmPlan::stages_a).
class GemmDeviceRun final : public Runner {
 public:
  /// Allocates all memory on plan.devices.front(). Throws OutOfMemory before anything
  /// is read, and DeviceError.
  GemmDeviceRun(const GemmFiles& files, const GemmPlan& plan, const ExecutionOptions& options);
  /// Waits for the work on its streams.
  ~GemmDeviceRun() override;

  void execute(Timeline& timeline) override;
  int threads() const noexcept override { return pool_.concurrency(); }

 private:
  /// The events of one step, reused for a later step once this one is recorded.
  struct StepEvents {
    DeviceClock::Interval upload, compute;
  };
  /// A part of a tile that is downloaded in one copy.
  struct Strip {
    std::int64_t step;  // the last step of its tile
    Rect rect;          // position in the result
    bool last;          // whether it is the last of its tile
  };

  static std::vector<Strip> strips_of(const std::vector<GemmStep>& steps, std::int64_t strip_rows);
  void read_all(Timeline& timeline);
  void upload_all(Timeline& timeline);
  void upload(std::int64_t index, Timeline& timeline);
  void upload_added(const GemmStep& step, Timeline& timeline);
  void compute(std::int64_t index);
  void download_all();
  void write_all(Timeline& timeline);
  void run_role(const std::function<void()>& role) noexcept;
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

  DeviceScope scope_;  // first: the other members need the device
  GemmFiles files_;
  const GemmPlan& plan_;
  const ExecutionOptions& options_;
  std::vector<GemmStep> steps_;
  std::vector<Strip> strips_;
  GemmMemory device_;
  // Page-locked; empty if panels are copied directly from or to the matrix.
  Buffer staged_a_, staged_b_, staged_added_, staged_strips_;
  Stream upload_{Stream::Priority::high}, compute_, download_;
  std::vector<StepEvents> events_;
  std::vector<DeviceClock::Interval> strip_events_;
  std::vector<Event> tile_downloaded_;
  DeviceClock clock_;
  RunState state_;
  std::int64_t read_ = 0;  // steps read to page-locked memory; this and the next four under the state's lock
  std::int64_t enqueued_ = 0;         // steps
  std::int64_t tiles_enqueued_ = 0;   // tiles whose download is enqueued
  std::int64_t strips_enqueued_ = 0;  // strips whose download is enqueued
  std::int64_t written_ = 0;          // strips
  ThreadPool pool_;
};

}  // namespace sepconv
