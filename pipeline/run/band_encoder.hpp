// Blocks of the result on their way from one GPU, which encodes them. Internal to DeviceRing.
#pragma once

#include <vector>

#include "core/memory.hpp"
#include "io/raw_blocks.hpp"
#include "io/writer.hpp"
#include "kernels/cuda/runtime.hpp"
#include "pipeline/plan/device_codecs.hpp"
#include "pipeline/plan/plan.hpp"

namespace sepconv {

/// A slot has a table of a band's blocks and their streams, on the device and on the host. How long those are
/// is known only when they are there, so they come to the host in two steps.
class BandEncoder {
 public:
  /// For plans that encode on devices. Throws OutOfMemory.
  BandEncoder(Writer& sink, const Plan& plan, std::pmr::memory_resource* pinned,
              std::pmr::memory_resource* device);

  /// Encodes the pixels of a band. Bands are encoded on one stream.
  void encode(std::int64_t slot, const ConstPixelView& result, DeviceStream stream);
  /// Copies the table of the blocks of `rect` to the host.
  void download_table(std::int64_t slot, const Rect& rect, DeviceStream stream);
  /// Once that is there: copies the streams.
  void download_streams(std::int64_t slot, DeviceStream stream);
  /// Once these are there: hands the blocks of `rect` to the sink.
  void write(std::int64_t slot, const Rect& rect, Executor& executor);

  std::int64_t bytes(std::int64_t slot) const { return slots_[static_cast<std::size_t>(slot)].bytes; }

 private:
  struct Slot {
    Buffer host, device;
    std::int64_t blocks = 0, bytes = 0;
  };
  Slot& slot_at(std::int64_t slot) { return slots_[static_cast<std::size_t>(slot)]; }

  Writer& sink_;
  EncodedTiles tiles_;
  EncodingSizes sizes_;
  std::vector<Slot> slots_;
  Buffer scratch_;
};

}  // namespace sepconv
