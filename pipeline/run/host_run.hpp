// The streaming runner of the host: three roles around a ring of slots. Internal to run().
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "pipeline/machine/thread_pool.hpp"
#include "pipeline/plan/band_rows.hpp"
#include "pipeline/run/clipping_samples.hpp"
#include "pipeline/run/nan_detector.hpp"
#include "pipeline/run/run.hpp"
#include "pipeline/run/run_state.hpp"

namespace sepconv {

/// One streaming run. Band i lives in slot i % slots from the moment it is read until it is written:
///
///   reader    waits until the slot's last band is written; copies the rows that band i shares with band i -
///   1 from that band's slot;
///             reads the others, of the source and of second images
///   computer  waits until band i is read; runs the chain over its tiles
///   writer    waits until band i is computed; hands it to the sink
///
/// Each role works through the bands in order, in a thread of its own, and spreads its work over the pool.
/// The only state they share is how many bands each has finished. The first failure of any of them stops the
/// pool, wakes the others and is what execute() throws.
class HostRun {
 public:
  /// Allocates all slots and arenas. Throws OutOfMemory before anything is read.
  HostRun(Reader& source, Writer& sink, const Plan& plan, NanDetector& watch, ClippingSamples& clips,
          const ExecutionOptions& options);

  /// Reads, computes and writes all bands. Throws the first cause of failure, or Cancelled; all threads have
  /// ended then.
  void execute(Timeline& timeline);
  /// What it computes, or reads and writes, with: the plan's threads, or as many as there were to be had.
  int threads() const noexcept { return pool_.concurrency(); }

 private:
  enum Role : std::size_t { kRead, kCompute, kWrite };

  /// An image that is read: the source, or a second one.
  struct Input {
    Reader& reader;
    std::size_t over;  ///< the stage whose input it lies over
  };
  struct Slot {
    std::vector<Buffer> inputs;  // as inputs_
    Buffer output;
    Region result(const Plan& plan, const Rect& rect) const;
  };

  void read_band(std::int64_t band);
  std::int64_t read_input(std::size_t input, std::int64_t band);
  void compute_band(std::int64_t band);
  void write_band(std::int64_t band);

  BandRows rows_of(std::size_t input, std::int64_t band) const;
  /// What a band holds of it.
  Region held_of(std::size_t input, std::int64_t band) const;
  void play(Role role, Timeline& timeline, const std::function<void(std::int64_t)>& step);
  bool wait_for(Role role, std::int64_t bands_done);
  void finish_band(Role role);
  const Slot& slot_of(std::int64_t band) const {
    return slots_[static_cast<std::size_t>(band % plan_.slots)];
  }

  std::vector<SecondaryInput> seconds_;
  std::vector<Input> inputs_;  // the source, then these
  Writer& sink_;
  const Plan& plan_;
  NanDetector& watch_;
  ClippingSamples& clips_;
  const ExecutionOptions& options_;
  BandRange bands_;
  std::vector<Slot> slots_;
  std::vector<Worker> workers_;  // one per thread
  RunState state_;
  std::array<std::int64_t, 3> done_{};   // bands finished, by role; under the state's lock
  std::array<std::int64_t, 3> bytes_{};  // moved for the band at hand, by role; each role's own
  ThreadPool pool_;
};

}  // namespace sepconv
