// Encodes blocks of the result on one GPU. Internal to DeviceRing.
#pragma once

#include <vector>

#include "core/memory.hpp"
#include "io/encoded_blocks.hpp"
#include "io/writer.hpp"
#include "kernels/device/runtime.hpp"
#include "pipeline/plan/device_codecs.hpp"
#include "pipeline/plan/plan.hpp"

namespace sepconv {

/// A slot buffers a band's encoded blocks and a table of them, on the device and on the host. The size of the
/// blocks is known only after encoding, so the table is downloaded first.
class BandEncoder {
 public:
  /// For plans that encode on devices. Throws OutOfMemory.
  BandEncoder(Writer& sink, const Plan& plan, std::pmr::memory_resource* pinned,
              std::pmr::memory_resource* device);

  /// Encodes the pixels of a band. Bands are encoded on one stream.
  void encode(std::int64_t slot, const ConstPixelView& result, DeviceStream stream);
  /// Copies the table of the blocks of `rect` to the host.
  void download_table(std::int64_t slot, const Rect& rect, DeviceStream stream);
  /// Copies the encoded blocks to the host. The table must have arrived.
  void download_streams(std::int64_t slot, DeviceStream stream);
  /// Writes the blocks of `rect` to the sink. They must have arrived on the host.
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
