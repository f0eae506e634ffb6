// One device of a streaming run: its slots, and the steps of a band. Internal to StreamingRun.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "pipeline/machine/thread_pool.hpp"
#include "pipeline/run/clipping_samples.hpp"
#include "pipeline/run/nan_detector.hpp"
#include "pipeline/run/run_state.hpp"
#include "pipeline/run/turns.hpp"

namespace sepconv {

/// What the lanes of a run share.
struct RunContext {
  Reader& source;
  Writer& sink;
  const Plan& plan;
  NanDetector& nan_detector;
  ClippingSamples& clipping;
  const ExecutionOptions& options;
  RunState& state;
  ThreadPool& pool;
  Executor& copying;  ///< the pool, for reading and writing
};

/// A step that a lane does for each of its turns, in a thread of its own.
struct LaneRole {
  /// Turn i begins when role `role` has finished turn i - `turns_before`.
  struct Wait {
    std::size_t role;
    std::int64_t turns_before;
  };
  std::vector<Wait> waits;
  std::function<void(std::int64_t turn)> step;
};

class Lane {
 public:
  explicit Lane(const RunContext& context) : context_(context), turns_(context.plan) {}
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;
  virtual ~Lane() = default;

  /// The roles before the writer's, in the order in which a band passes them. The first reads. The number of
  /// the writer's role in a LaneRole::Wait is the number of these roles.
  virtual std::vector<LaneRole> roles() = 0;
  /// Turn 0 is about to begin.
  virtual void begin(Timeline& timeline) { timeline_ = &timeline; }
  /// Waits until the turn's result is in host memory.
  virtual void wait_for_result(std::int64_t turn) { (void)turn; }
  /// Passes the result to the sink, and records it. Called for one band of the run at a time.
  virtual void write(std::int64_t turn) = 0;

  Turns& turns() noexcept { return turns_; }

 protected:
  const RunContext& context_;
  Turns turns_;
  Timeline* timeline_ = nullptr;
};

}  // namespace sepconv
