#include "pipeline/run/band_decoder.hpp"

#include "kernels/codec/decode.hpp"
#include "pipeline/plan/band_rows.hpp"

namespace sepconv {
namespace {

std::span<EncodedTile> tile_table(const Buffer& buffer, std::int64_t count) {
  return {reinterpret_cast<EncodedTile*>(buffer.data()), static_cast<std::size_t>(count)};
}

}  // namespace

BandDecoder::BandDecoder(Reader& source, const Plan& plan, std::pmr::memory_resource* pinned,
                         std::pmr::memory_resource* device)
    : source_(source),
      tiles_(*plan.decoded),
      sizes_(tiles_, source.spec(), plan.max_source_extent, plan.threads),
      slots_(static_cast<std::size_t>(plan.slots)),
      cpu_pixels_(sizes_.redecoded_bytes(), pinned) {
  for (Slot& slot : slots_) {
    slot.device = Buffer(sizes_.device_bytes(), device);
    slot.host = Buffer(sizes_.host_bytes(), pinned);
  }
}

Rect BandDecoder::block_rect(const Blocks& blocks, std::int64_t index) const {
  const std::int64_t row = blocks.grid.row + index / blocks.grid.cols;
  const std::int64_t col = blocks.grid.col + index % blocks.grid.cols;
  return {row * tiles_.tile.rows, col * tiles_.tile.cols, tiles_.tile.rows, tiles_.tile.cols};
}

BandDecoder::Blocks BandDecoder::blocks_of(const Rect& rect) const {
  const Extent tile = tiles_.tile;
  const std::int64_t row = rect.row / tile.rows, col = rect.col / tile.cols;
  const Rect grid{row, col, ceil_div(rect.row_end(), tile.rows) - row,
                  ceil_div(rect.col_end(), tile.cols) - col};
  const Rect covered{row * tile.rows, col * tile.cols, grid.rows * tile.rows, grid.cols * tile.cols};
  return {rect, grid, covered.intersect(Rect::whole(source_.spec().extent))};
}

std::int64_t BandDecoder::read(std::int64_t slot_index, const Rect& rect, Executor& executor) {
  Slot& slot = slot_at(slot_index);
  slot.read = blocks_of(rect);
  const Rect grid = slot.read.grid;
  EncodedReader& source = *source_.encoded();
  const std::span<EncodedTile> table = tile_table(slot.host, grid.area());
  executor.for_each(grid.area(), [&](std::int64_t i, int) {
    table[static_cast<std::size_t>(i)].bytes =
        source.encoded_bytes(grid.row + i / grid.cols, grid.col + i % grid.cols);
  });
  std::int64_t end = 0, bytes = 0;
  for (EncodedTile& stream : table) {
    if (end + stream.bytes > sizes_.streams_bytes) stream.bytes = 0;
    stream.offset = sizes_.table_bytes + end;
    end += round_up(stream.bytes, kStreamAlignment);
    bytes += stream.bytes;
  }
  slot.bytes = end;
  executor.for_each(grid.area(), [&](std::int64_t i, int) {
    const EncodedTile& stream = table[static_cast<std::size_t>(i)];
    if (stream.bytes > 0)
      source.read_encoded(grid.row + i / grid.cols, grid.col + i % grid.cols,
                          {slot.host.data() + stream.offset, static_cast<std::size_t>(stream.bytes)});
  });
  return bytes;
}

void BandDecoder::upload(std::int64_t slot_index, DeviceStream stream) {
  const Slot& slot = slot_at(slot_index);
  const std::int64_t bytes = sizes_.table_bytes + slot.bytes;
  copy_rows(slot.device.data(), bytes, slot.host.data(), bytes, bytes, 1, stream);
}

void BandDecoder::decode(std::int64_t slot_index, const PixelView& destination) {
  Slot& slot = slot_at(slot_index);
  slot.decoded = slot.read;
  const auto& [rect, grid, part] = slot.decoded;
  const DeviceStream stream = slot.stream.get();
  auto* const rejected_flags = reinterpret_cast<std::int32_t*>(rejected(slot.device));
  std::byte* const decoded = slot.device.data() + sizes_.host_bytes();
  decode_tiles_device(slot.device.data(), reinterpret_cast<const EncodedTile*>(slot.device.data()), tiles_,
                      part.extent(), decoded, rejected_flags, stream);
  const Rect band_in_part{rect.row - part.row, rect.col - part.col, rect.rows, rect.cols};
  unpredict_tiles_device(decoded, rejected_flags, tiles_, part.extent(), band_in_part, destination, stream);
  const std::int64_t bytes = grid.area() * static_cast<std::int64_t>(sizeof(std::int32_t));
  copy_rows(rejected(slot.host), bytes, rejected_flags, bytes, bytes, 1, stream);
}

void BandDecoder::decode_rejected(std::int64_t slot_index, const PixelView& destination, Executor& executor) {
  const Slot& slot = slot_at(slot_index);
  const auto* const rejected_flags = reinterpret_cast<const std::int32_t*>(rejected(slot.host));
  const std::int64_t count = slot.decoded.grid.area();
  std::vector<std::int64_t> blocks;
  for (std::int64_t i = 0; i < count; ++i) {
    if (rejected_flags[i] == 0) continue;
    blocks.push_back(i);
    if (std::ssize(blocks) < sizes_.redecoded_blocks) continue;
    decode_on_cpu(slot, blocks, destination, executor);
    blocks.clear();
  }
  decode_on_cpu(slot, blocks, destination, executor);
}

void BandDecoder::decode_on_cpu(const Slot& slot, std::span<const std::int64_t> blocks,
                                const PixelView& destination, Executor& executor) {
  const Rect band_rect = slot.decoded.rect;
  const auto rect_of = [&](std::int64_t i) {
    return block_rect(slot.decoded, blocks[static_cast<std::size_t>(i)]).intersect(band_rect);
  };
  const auto pixels_of = [&](std::int64_t i) {
    return dense_view(cpu_pixels_.data() + i * sizes_.block_bytes, source_.spec(), rect_of(i).extent());
  };
  executor.for_each(std::ssize(blocks), [&](std::int64_t i, int) {
    SerialExecutor serial;
    source_.read(rect_of(i), pixels_of(i), serial);
  });
  for (std::int64_t i = 0; i < std::ssize(blocks); ++i) {
    const Rect rect = rect_of(i);
    copy_pixels(pixels_of(i),
                destination.crop({rect.row - band_rect.row, rect.col - band_rect.col, rect.rows, rect.cols}),
                slot.stream.get());
  }
  if (!blocks.empty()) slot.stream.synchronize();
}

}  // namespace sepconv
