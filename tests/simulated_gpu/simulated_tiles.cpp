// Coding of tiles on the simulated GPU: the encoder of TIFF's blocks, which is what a GPU's is held to.
#include <libdeflate.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "sepconv/io/deflate/deflater.hpp"
#include "sepconv/io/tiff/block_encoder.hpp"
#include "sepconv/io/tiff/block_pixels.hpp"
#include "sepconv/io/tiff/predictor.hpp"
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

std::int64_t rows_of(const CodedTiles& tiles, Extent part, std::int64_t index) {
  const std::int64_t row = index / tiles.grid(part).cols * tiles.tile.rows;
  return tiles.pads ? tiles.tile.rows : std::min(tiles.tile.rows, part.rows - row);
}

bool inflate(const std::byte* stream, std::int64_t bytes, std::byte* to, std::int64_t size) {
  const std::unique_ptr<libdeflate_decompressor, decltype(&libdeflate_free_decompressor)> decoder(
      libdeflate_alloc_decompressor(), libdeflate_free_decompressor);
  return bytes > 0 &&
         libdeflate_zlib_decompress(decoder.get(), stream, static_cast<std::size_t>(bytes), to,
                                    static_cast<std::size_t>(size), nullptr) == LIBDEFLATE_SUCCESS;
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

void inflate_tiles(const std::byte* encoded, const EncodedTile* streams, const CodedTiles& tiles, Extent part,
                   std::byte* decoded, std::int32_t* refused, DeviceStream stream) {
  enqueue(stream, [=] {
    const Extent grid = tiles.grid(part);
    std::fill_n(decoded, inflate_tiles_bytes(tiles, grid.area()), std::byte{0xA5});
    for (std::int64_t i = 0; i < grid.area(); ++i)
      refused[i] =
          inflate(encoded + streams[i].offset, streams[i].bytes, decoded + i * decoded_tile_bytes(tiles),
                  rows_of(tiles, part, i) * tiles.row_bytes())
              ? 0
              : 1;
  });
}

void place_tiles(const std::byte* decoded, const std::int32_t* refused, const CodedTiles& tiles, Extent part,
                 const Rect& shown, const PixelView& out, DeviceStream stream) {
  enqueue(stream, [=] {
    const Extent grid = tiles.grid(part);
    for (std::int64_t i = 0; i < grid.area(); ++i) {
      const Rect tile{i / grid.cols * tiles.tile.rows, i % grid.cols * tiles.tile.cols,
                      rows_of(tiles, part, i), tiles.tile.cols};
      const Rect seen = tile.intersect(shown);
      if (seen.empty() || refused[i] != 0) continue;
      std::vector<std::byte> rows(static_cast<std::size_t>(tile.rows * tiles.row_bytes()));
      std::copy_n(decoded + i * decoded_tile_bytes(tiles), rows.size(), rows.data());
      BlockFormat format = format_of(tiles, tile.rows);
      format.big_endian = tiles.big_endian;
      undo_predictor(rows, format);
      const ConstPixelView pixels{rows.data(), tile.extent(), tiles.channels, tiles.type, tiles.row_bytes()};
      sepconv::copy_pixels(pixels.crop({seen.row - tile.row, seen.col - tile.col, seen.rows, seen.cols}),
                           out.crop({seen.row - shown.row, seen.col - shown.col, seen.rows, seen.cols}));
    }
  });
}

}  // namespace sepconv::simulated
