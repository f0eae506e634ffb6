// The streaming runner: the CPU, GPUs or both compute bands of one image. Internal to run().
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/machine/thread_pool.hpp"
#include "pipeline/run/band_queue.hpp"
#include "pipeline/run/lane.hpp"
#include "pipeline/run/run_state.hpp"

namespace sepconv {

/// Each device of the plan is a lane. Each role of a lane has a thread, which does the lane's turns in order
/// and distributes its work over the pool. The threads share only the number of turns that each has finished,
/// and the queue of bands. The first failure stops the pool, wakes all threads and is thrown by execute().
///
/// If the CPU computes, too, a GPU's context and memory are made on the GPU's thread while the CPU computes.
/// If then the devices were chosen by the planner, a GPU that fails ends its lane only: other lanes compute
/// its unwritten bands, and warnings() says so.
class StreamingRun final : public Runner {
 public:
  /// Allocates all memory, except that of GPUs that begin later. Throws OutOfMemory before anything is read.
  StreamingRun(Reader& source, Writer& sink, const Plan& plan, NanDetector& nan_detector,
               ClippingSamples& clipping, const ExecutionOptions& options);

  void execute(Timeline& timeline) override;
  int threads() const noexcept override { return pool_.concurrency(); }
  std::vector<LaneReport> lanes() const override;
  std::vector<std::string> warnings() const override;

 private:
  struct LaneState {
    std::optional<int> device;   // nullopt: the CPU
    std::unique_ptr<Lane> lane;  // null: not made yet
    std::vector<LaneRole> roles{};
    std::vector<std::int64_t> done{};  // turns finished, by role; under the state's lock
    bool has_failed = false;           // under the state's lock
    LaneReport report{};               // the failure and counts under the state's lock
  };

  std::unique_ptr<Lane> make_lane(std::optional<int> device) const;
  bool may_fail(const LaneState& lane) const noexcept;
  /// All turns of a lane, from its beginning to the end of its threads.
  void run_lane(std::size_t index, Timeline& timeline) noexcept;
  void start_roles(std::size_t index, Roles& threads, Timeline& timeline);
  bool is_over();
  void run_role(std::size_t index, std::size_t role);
  /// Waits until the role may begin the turn, and the first role has a band for it; false if the lane ends.
  bool wait_for_turn(std::size_t index, std::size_t role, std::int64_t turn);
  void write(std::size_t index, std::int64_t turn, Timeline& timeline);
  /// Calls `work`. An exception ends the lane or the run.
  template <class Work>
  void attempt(LaneState& lane, const Work& work) noexcept;

  const Plan& plan_;
  const ExecutionOptions& options_;
  BandRange bands_;
  RunState state_;
  ThreadPool pool_;
  RunContext context_;
  bool begins_later_;  // GPUs begin while the CPU computes
  std::vector<LaneState> lanes_;
  BandQueue queue_;  // under the state's lock
  Timeline clock_;   // of the queue
  std::mutex sink_mutex_;
};

}  // namespace sepconv
