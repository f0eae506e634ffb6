#include "pipeline/run/band_encoder.hpp"

#include <span>

#include "kernels/deflate/tiles.hpp"

namespace sepconv {
namespace {

/// Bytes of a table of `blocks` entries and its end entry.
std::int64_t bytes_with_end(std::int64_t blocks) {
  return (blocks + 1) * static_cast<std::int64_t>(sizeof(EncodedTile));
}

}  // namespace

BandEncoder::BandEncoder(Writer& sink, const Plan& plan, std::pmr::memory_resource* pinned,
                         std::pmr::memory_resource* device)
    : sink_(sink),
      tiles_(*plan.encoded),
      sizes_(tiles_, plan.band),
      slots_(static_cast<std::size_t>(plan.slots)),
      scratch_(sizes_.scratch_bytes, device) {
  for (Slot& slot : slots_) {
    slot.device = Buffer(sizes_.slot_bytes(), device);
    slot.host = Buffer(sizes_.slot_bytes(), pinned);
  }
}

void BandEncoder::encode(std::int64_t slot_index, const ConstPixelView& result, DeviceStream stream) {
  const Slot& slot = slot_at(slot_index);
  encode_tiles_device(result, tiles_, scratch_.data(), slot.device.data() + sizes_.table_bytes,
                      reinterpret_cast<EncodedTile*>(slot.device.data()), stream);
}

void BandEncoder::download_table(std::int64_t slot_index, const Rect& rect, DeviceStream stream) {
  Slot& slot = slot_at(slot_index);
  slot.blocks = tiles_.grid(rect.extent()).area();
  const std::int64_t bytes = bytes_with_end(slot.blocks);
  copy_rows(slot.host.data(), bytes, slot.device.data(), bytes, bytes, 1, stream);
}

void BandEncoder::download_streams(std::int64_t slot_index, DeviceStream stream) {
  Slot& slot = slot_at(slot_index);
  slot.bytes = reinterpret_cast<const EncodedTile*>(slot.host.data())[slot.blocks].offset;
  copy_rows(slot.host.data() + sizes_.table_bytes, slot.bytes, slot.device.data() + sizes_.table_bytes,
            slot.bytes, slot.bytes, 1, stream);
}

void BandEncoder::write(std::int64_t slot_index, const Rect& rect, Executor& executor) {
  const Slot& slot = slot_at(slot_index);
  const std::span<const EncodedTile> table(reinterpret_cast<const EncodedTile*>(slot.host.data()),
                                           static_cast<std::size_t>(slot.blocks));
  std::vector<std::span<const std::byte>> blocks;
  blocks.reserve(table.size());
  for (const EncodedTile& tile : table)
    blocks.emplace_back(slot.host.data() + sizes_.table_bytes + tile.offset,
                        static_cast<std::size_t>(tile.bytes));
  sink_.encoded()->write_encoded(rect, blocks, executor);
}

}  // namespace sepconv
