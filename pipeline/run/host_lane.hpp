// The CPU's part of a streaming run. Internal to StreamingRun.
#pragma once

#include <vector>

#include "core/worker.hpp"
#include "pipeline/chain/secondary_input.hpp"
#include "pipeline/run/lane.hpp"

namespace sepconv {

/// Turn i is in slot i % slots from reading to writing:
///
/// - reader: waits until the slot's last band is written; copies the rows shared with the previous turn from
///   that turn's slot; reads the others, of the source and of second images
/// - computer: waits until the band is read; runs the chain over its tiles
/// - writer: waits until the band is computed
class HostLane final : public Lane {
 public:
  /// Allocates all slots and arenas. Throws OutOfMemory before anything is read.
  explicit HostLane(const RunContext& context);

  std::vector<LaneRole> roles() override;
  void write(std::int64_t turn) override;

 private:
  /// An image that is read: the source or a second image.
  struct Input {
    Reader& reader;
    std::size_t stage_index;  ///< index of the stage that reads it; 0 for the source
  };
  struct Slot {
    std::vector<Buffer> inputs;  // in the order of inputs_
    Buffer output;
  };

  void read(std::int64_t turn);
  std::int64_t read_input(std::size_t input, std::int64_t turn);
  void compute(std::int64_t turn);

  /// The region of an input that a turn buffers.
  Region buffered_region(std::size_t input, std::int64_t turn) const;
  Region result_region(std::int64_t turn) const;
  const Slot& slot_of(std::int64_t turn) const {
    return slots_[static_cast<std::size_t>(turn) % slots_.size()];
  }

  std::vector<SecondaryInput> second_images_;
  std::vector<Input> inputs_;  // the source, then second_images_
  std::vector<Slot> slots_;
  std::vector<Worker> workers_;  // one per thread
};

}  // namespace sepconv
