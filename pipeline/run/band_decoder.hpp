// Decodes blocks of the source on one GPU. Internal to DeviceRing.
#pragma once

#include <span>
#include <vector>

#include "core/memory.hpp"
#include "io/encoded_blocks.hpp"
#include "io/reader.hpp"
#include "kernels/device/runtime.hpp"
#include "pipeline/plan/device_codecs.hpp"
#include "pipeline/plan/plan.hpp"

namespace sepconv {

/// A slot buffers the encoded blocks that cover a band's missing rows, on the host and on the device, and the
/// decoded blocks. Several threads use the slots; each slot is used by one thread at a time.
class BandDecoder {
 public:
  /// For plans that decode on devices. Throws OutOfMemory.
  BandDecoder(Reader& source, const Plan& plan, std::pmr::memory_resource* pinned,
              std::pmr::memory_resource* device);

  /// Reads the encoded blocks that cover `rect`; returns their size in bytes.
  std::int64_t read(std::int64_t slot, const Rect& rect, Executor& executor);
  /// Copies the encoded blocks to the device.
  void upload(std::int64_t slot, DeviceStream stream);
  /// Decodes the blocks and stores the pixels of `rect` in `destination`, on the slot's stream, after the
  /// upload.
  void decode(std::int64_t slot, const PixelView& destination);
  /// After decode() has finished on the device: decodes the blocks that the device rejected on the CPU, a few
  /// at a time, and copies them to `destination`. Call from one thread at a time. Throws as Reader::read
  /// does.
  void decode_rejected(std::int64_t slot, const PixelView& destination, Executor& executor);

  const Stream& stream(std::int64_t slot) const { return slots_[static_cast<std::size_t>(slot)].stream; }
  std::int64_t bytes(std::int64_t slot) const { return slots_[static_cast<std::size_t>(slot)].bytes; }

 private:
  /// `rect`: the rectangle to decode; `grid`: the blocks that cover it; `part`: the pixels of these blocks.
  struct Blocks {
    Rect rect, grid, part;
  };
  struct Slot {
    Buffer host, device;
    Stream stream;
    Blocks read, decoded;  // the next band may be read before decode_rejected() of this one
    std::int64_t bytes = 0;
  };
  Slot& slot_at(std::int64_t slot) { return slots_[static_cast<std::size_t>(slot)]; }
  Blocks blocks_of(const Rect& rect) const;
  /// Decodes these blocks on the CPU; at most as many as cpu_pixels_ has capacity for.
  void decode_on_cpu(const Slot& slot, std::span<const std::int64_t> blocks, const PixelView& destination,
                     Executor& executor);
  Rect block_rect(const Blocks& blocks, std::int64_t index) const;
  std::byte* rejected(const Buffer& buffer) const {
    return buffer.data() + sizes_.table_bytes + sizes_.encoded_bytes;
  }

  Reader& source_;
  EncodedTiles tiles_;
  DecodingSizes sizes_;
  std::vector<Slot> slots_;
  Buffer cpu_pixels_;  // page-locked: pixels of blocks decoded on the CPU
};

}  // namespace sepconv
