// Coding of tiles on the simulated GPU: the encoder of TIFF's blocks, which is what a GPU's is held to.
#include <algorithm>

#include "sepconv/io/deflate/deflater.hpp"
#include "sepconv/io/tiff/block_encoder.hpp"
#include "sepconv/io/tiff/block_pixels.hpp"
#include "simulated_gpu.hpp"

namespace sepconv::simulated {
namespace {

constexpr std::uint16_t kDeflate = 8;  // of the tag Compression

BlockFormat format_of(const CodedTiles& tiles, std::int64_t rows) {
  BlockFormat format;
  format.extent = {rows, tiles.tile.cols};
  format.channels = tiles.channels;
  format.type = tiles.type;
  format.compression = kDeflate;
  format.predictor = static_cast<std::uint16_t>(tiles.predictor);
  format.level = deflate::kFast;
  return format;
}

void encode(const ConstPixelView& in, const CodedTiles& tiles, std::byte* encoded, EncodedTile* entries) {
  const Rect whole = Rect::whole(in.extent);
  std::fill_n(encoded, deflate_tiles_most_bytes(tiles, in.extent), std::byte{});
  EncodedBlock block;
  std::int64_t offset = 0;
  for (std::int64_t row = 0; row < in.extent.rows; row += tiles.tile.rows) {
    for (std::int64_t col = 0; col < in.extent.cols; col += tiles.tile.cols) {
      const Rect rect = Rect{row, col, tiles.tile.rows, tiles.tile.cols}.intersect(whole);
      const BlockFormat format = format_of(tiles, tiles.pads ? tiles.tile.rows : rect.rows);
      BlockEncoder::make(format, "simulated GPU")->encode(in.crop(rect), kAllChannels, block);
      std::ranges::copy(block.bytes(), encoded + offset);
      *entries++ = {offset, block.size};
      offset = round_up(offset + block.size, 16);
    }
  }
  *entries = {offset, 0};
}

}  // namespace

void deflate_tiles(const ConstPixelView& in, const CodedTiles& tiles, std::byte* scratch, std::byte* encoded,
                   EncodedTile* entries, DeviceStream stream) {
  enqueue(stream, [=] {
    // All of it is the GPU's while it works.
    std::fill_n(scratch, deflate_tiles_scratch_bytes(tiles, in.extent), std::byte{0xA5});
    encode(in, tiles, encoded, entries);
  });
}

}  // namespace sepconv::simulated
