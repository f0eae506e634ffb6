// The streaming runner of the host: three threads (read, compute, write) on a ring of slots. Internal to
// run().
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

/// One streaming run. Band i is in slot i % slots from reading to writing:
///
///   reader    waits until the slot's last band is written; copies the rows shared with band i - 1 from that
///             band's slot; reads the others, of the source and of second images
///   computer  waits until band i is read; runs the chain over its tiles
///   writer    waits until band i is computed; writes it to the sink
///
/// Each has a separate thread, processes the bands in order and distributes its work over the pool. They
/// share only the number of bands that each has finished. The first failure stops the pool, wakes the other
/// threads and is thrown by execute().
class HostRun final : public Runner {
 public:
  /// Allocates all slots and arenas. Throws OutOfMemory before anything is read.
  HostRun(Reader& source, Writer& sink, const Plan& plan, NanDetector& nan_detector,
          ClippingSamples& clipping, const ExecutionOptions& options);

  void execute(Timeline& timeline) override;
  int threads() const noexcept override { return pool_.concurrency(); }

 private:
  enum Role : std::size_t { kRead, kCompute, kWrite };

  /// An image that is read: the source or a second image.
  struct Input {
    Reader& reader;
    std::size_t stage_index;  ///< index of the stage that reads it; 0 for the source
  };
  struct Slot {
    std::vector<Buffer> inputs;  // in the order of inputs_
    Buffer output;
    Region result(const Plan& plan, const Rect& rect) const;
  };

  void read_band(std::int64_t band);
  std::int64_t read_input(std::size_t input, std::int64_t band);
  void compute_band(std::int64_t band);
  void write_band(std::int64_t band);

  BandRows rows_of(std::size_t input, std::int64_t band) const;
  /// The region of an input that a band buffers.
  Region buffered_region(std::size_t input, std::int64_t band) const;
  void run_role(Role role, Timeline& timeline, const std::function<void(std::int64_t)>& step);
  bool wait_for(Role role, std::int64_t bands_done);
  void finish_band(Role role);
  const Slot& slot_of(std::int64_t band) const {
    return slots_[static_cast<std::size_t>(band % plan_.slots)];
  }

  std::vector<SecondaryInput> second_images_;
  std::vector<Input> inputs_;  // the source, then second_images_
  Writer& sink_;
  const Plan& plan_;
  NanDetector& nan_detector_;
  ClippingSamples& clipping_;
  const ExecutionOptions& options_;
  BandRange bands_;
  std::vector<Slot> slots_;
  std::vector<Worker> workers_;  // one per thread
  RunState state_;
  std::array<std::int64_t, 3> done_{};   // bands finished, by role; under the state's lock
  std::array<std::int64_t, 3> bytes_{};  // of the current band, by role; each used by one thread
  ThreadPool pool_;
};

}  // namespace sepconv
