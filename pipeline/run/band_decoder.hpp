// Blocks of the source on their way through one GPU, which decodes them. Internal to DeviceRing.
#pragma once

#include <span>
#include <vector>

#include "core/memory.hpp"
#include "io/raw_blocks.hpp"
#include "io/reader.hpp"
#include "kernels/cuda/runtime.hpp"
#include "pipeline/plan/device_codecs.hpp"
#include "pipeline/plan/plan.hpp"

namespace sepconv {

/// A slot has the streams of the blocks that cover what a band lacks, on the host and on the device, and what
/// they are decoded to. Slots are used by several threads in turns, a slot by one at a time.
class BandDecoder {
 public:
  /// For plans that decode on devices. Throws OutOfMemory.
  BandDecoder(Reader& source, const Plan& plan, std::pmr::memory_resource* pinned,
              std::pmr::memory_resource* device);

  /// Reads the streams of the blocks that cover `rect`; returns their bytes.
  std::int64_t read(std::int64_t slot, const Rect& rect, Executor& executor);
  /// Copies them to the device.
  void upload(std::int64_t slot, DeviceStream stream);
  /// Decodes them and stores the pixels of `rect` in `to`, on the slot's stream, behind what is uploaded.
  void decode(std::int64_t slot, const PixelView& to);
  /// Once that is through on the device: what it refused the CPU reads, a few blocks at a time, and that is
  /// copied to `to`. By one thread at a time. Throws as Reader::read does.
  void mend(std::int64_t slot, const PixelView& to, Executor& executor);

  const Stream& stream(std::int64_t slot) const { return slots_[static_cast<std::size_t>(slot)].stream; }
  std::int64_t bytes(std::int64_t slot) const { return slots_[static_cast<std::size_t>(slot)].bytes; }

 private:
  /// What is decoded: `rect` of the image, which the blocks `grid` cover, whose pixels are `part`.
  struct Blocks {
    Rect rect, grid, part;
  };
  struct Slot {
    Buffer host, device;
    Stream stream;
    Blocks read, decoded;  // the next band may be read before this one is mended
    std::int64_t bytes = 0;
  };
  Slot& slot_at(std::int64_t slot) { return slots_[static_cast<std::size_t>(slot)]; }
  Blocks blocks_of(const Rect& rect) const;
  /// Pixels of these blocks, at most as many as mended_ has room for.
  void decode_on_cpu(const Slot& slot, std::span<const std::int64_t> blocks, const PixelView& to,
                     Executor& executor);
  Rect block_rect(const Blocks& blocks, std::int64_t index) const;
  std::byte* refused(const Buffer& buffer) const {
    return buffer.data() + sizes_.table_bytes + sizes_.encoded_bytes;
  }

  Reader& source_;
  EncodedTiles tiles_;
  DecodingSizes sizes_;
  std::vector<Slot> slots_;
  Buffer mended_;  // page-locked: pixels of blocks that the CPU has read
};

}  // namespace sepconv
