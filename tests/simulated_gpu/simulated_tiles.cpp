// Tile coding of the simulated GPU: by the TIFF block encoder, whose bytes a GPU's encoder must equal, and by
// those of the GPU's decoders that also run on one thread.
#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "../support/decode_on_host.hpp"
#include "io/deflate/deflater.hpp"
#include "io/deflate/raster_coder.hpp"
#include "io/tiff/block_encoder.hpp"
#include "io/tiff/block_pixels.hpp"
#include "io/zstd/raster_coder.hpp"
#include "kernels/codec/decode_scratch.hpp"
#include "kernels/codec/unpredict_row.hpp"
#include "kernels/jpeg/decode_on_host.hpp"
#include "kernels/lz4/block_decoder.hpp"
#include "simulated_gpu.hpp"

namespace sepconv::simulated {
namespace {

constexpr std::uint16_t kDeflate = 8, kZstd = 50000;  // values of the TIFF tag Compression

BlockFormat format_of(const EncodedTiles& tiles, std::int64_t rows) {
  BlockFormat format;
  format.extent = {rows, tiles.tile.cols};
  format.channels = tiles.channels;
  format.type = tiles.type;
  format.compression = tiles.codec == BlockCodec::zstd ? kZstd : kDeflate;
  format.predictor = static_cast<std::uint16_t>(tiles.predictor);
  format.level = deflate::kFast;
  return format;
}

/// A whole tile as Zarr stores it: the pixels, padded with the fill value.
std::vector<std::byte> filled_tile(const ConstPixelView& in, const EncodedTiles& tiles) {
  std::vector<std::byte> tile(static_cast<std::size_t>(tiles.bytes()));
  const auto element = static_cast<std::size_t>(size_of(tiles.type));
  for (std::size_t i = 0; i < tile.size(); i += element) std::memcpy(&tile[i], &*tiles.fill, element);
  for (std::int64_t row = 0; row < in.extent.rows; ++row)
    std::copy_n(in.row_data(row), in.row_bytes(), tile.data() + row * tiles.row_bytes());
  return tile;
}

void encode_filled(const ConstPixelView& in, const EncodedTiles& tiles, EncodedBlock& block) {
  const std::vector<std::byte> tile = filled_tile(in, tiles);
  const deflate::MatchDistances raster{tiles.channels * size_of(tiles.type), tiles.row_bytes()};
  deflate::RasterCoder coder;
  zstd::RasterCoder zstd_coder;
  block.memory = Buffer(deflate::RasterCoder::max_bytes(std::ssize(tile)) + zstd::RasterCoder::max_bytes(0));
  const std::span<std::byte> to = block.memory.bytes();
  block.size = tiles.codec == BlockCodec::zstd   ? zstd_coder.encode(tile, raster, tiles.has_checksum, to)
               : tiles.codec == BlockCodec::gzip ? coder.encode_gzip(tile, raster, to)
                                                 : coder.encode(tile, raster, to);
}

/// Encodes with the TIFF block encoder. Its zstd frames always have a checksum, which is removed if not
/// wanted.
void encode_padded(const ConstPixelView& in, const EncodedTiles& tiles, EncodedBlock& block) {
  const BlockFormat format = format_of(tiles, tiles.pads ? tiles.tile.rows : in.extent.rows);
  BlockEncoder::make(format, "simulated GPU")->encode(in, kAllChannels, block);
  if (tiles.codec != BlockCodec::zstd || tiles.has_checksum) return;
  block.memory.data()[4] &= ~static_cast<std::byte>(zstd::kHasChecksum);
  block.size -= zstd::kChecksumBytes;
}

void encode(const ConstPixelView& in, const EncodedTiles& tiles, std::byte* encoded, EncodedTile* entries) {
  const Rect whole = Rect::whole(in.extent);
  std::fill_n(encoded, encode_tiles_max_bytes(tiles, in.extent), std::byte{});
  EncodedBlock block;
  std::int64_t offset = 0;
  for (std::int64_t row = 0; row < in.extent.rows; row += tiles.tile.rows) {
    for (std::int64_t col = 0; col < in.extent.cols; col += tiles.tile.cols) {
      const Rect rect = Rect{row, col, tiles.tile.rows, tiles.tile.cols}.intersect(whole);
      (tiles.fill ? encode_filled : encode_padded)(in.crop(rect), tiles, block);
      std::ranges::copy(block.bytes(), encoded + offset);
      *entries++ = {offset, block.size};
      offset = round_up(offset + block.size, kStreamAlignment);
    }
  }
  *entries = {offset, 0};
}

std::int64_t rows_of(const EncodedTiles& tiles, Extent part, std::int64_t index) {
  const std::int64_t row = index / tiles.grid(part).cols * tiles.tile.rows;
  return tiles.pads ? tiles.tile.rows : std::min(tiles.tile.rows, part.rows - row);
}

/// Decodes a tile with the decoders that a GPU's warps run. `decoder_scratch` is scratch.
bool decode(const EncodedTiles& tiles, const std::byte* stream, std::int64_t bytes, std::byte* to,
            std::int64_t size, std::byte* decoder_scratch) {
  zstd::Tables tables;
  std::memset(&tables, 0xA5, sizeof tables);
  switch (tiles.codec) {
    case BlockCodec::zstd:
      return zstd::FrameDecoder<SingleThreadGroup>(stream, bytes, to, size, decoder_scratch, tables).run();
    case BlockCodec::lz4:
      return lz4::BlockDecoder<SingleThreadGroup>(stream, bytes, to, size).run();
    case BlockCodec::jpeg:
      return jpeg::decode_on_host(stream, bytes, jpeg::geometry_of(tiles, size / tiles.row_bytes()),
                                  tiles.is_ycbcr, decoder_scratch, to);
    default:
      return test::inflate_on_host({stream, static_cast<std::size_t>(bytes)}, tiles.codec,
                                   {to, static_cast<std::size_t>(size)});
  }
}

/// Undoes the predictor for the rectangle `visible` of a tile.
void unpredict_rows(const EncodedTiles& tiles, const std::byte* rows, const Rect& visible,
                    const PixelView& out) {
  DecodedRow from{nullptr,          tiles.tile.cols,  static_cast<int>(tiles.channels),
                  tiles.predictor,  tiles.big_endian, visible.col,
                  visible.col_end()};
  for (std::int64_t row = 0; row < visible.rows; ++row) {
    from.bytes = rows + (visible.row + row) * tiles.row_bytes();
    switch (std::byte* const to = out.row_data(row); size_of(tiles.type)) {
      case 1:
        unpredict_row(SingleThreadGroup(), from, reinterpret_cast<std::uint8_t*>(to));
        break;
      case 2:
        unpredict_row(SingleThreadGroup(), from, reinterpret_cast<std::uint16_t*>(to));
        break;
      case 4:
        unpredict_row(SingleThreadGroup(), from, reinterpret_cast<std::uint32_t*>(to));
        break;
      default:
        unpredict_row(SingleThreadGroup(), from, reinterpret_cast<std::uint64_t*>(to));
    }
  }
}

void encode_tiles(const ConstPixelView& in, const EncodedTiles& tiles, std::byte* scratch, std::byte* encoded,
                  EncodedTile* entries, DeviceStream stream) {
  enqueue(stream, [=] {
    // The GPU may overwrite all of the scratch.
    std::fill_n(scratch, encode_tiles_scratch_bytes(tiles, in.extent), std::byte{0xA5});
    encode(in, tiles, encoded, entries);
  });
}

void decode_tiles(const std::byte* encoded, const EncodedTile* streams, const EncodedTiles& tiles,
                  Extent part, std::byte* decoded, std::int32_t* refused, DeviceStream stream) {
  enqueue(stream, [=] {
    const Extent grid = tiles.grid(part);
    const std::int64_t count = grid.area(), stride = decoded_tile_bytes(tiles);
    std::fill_n(decoded, decode_tiles_bytes(tiles, count), std::byte{0xA5});
    for (std::int64_t i = 0; i < count; ++i) {
      std::byte* const decoder_scratch = decoded + count * stride + i * scratch_bytes_per_tile(tiles);
      const bool good = decode(tiles, encoded + streams[i].offset, streams[i].bytes, decoded + i * stride,
                               rows_of(tiles, part, i) * tiles.row_bytes(), decoder_scratch);
      refused[i] = good ? 0 : 1;
    }
  });
}

void unpredict_tiles(const std::byte* decoded, const std::int32_t* refused, const EncodedTiles& tiles,
                     Extent part, const Rect& requested, const PixelView& out, DeviceStream stream) {
  enqueue(stream, [=] {
    const Extent grid = tiles.grid(part);
    for (std::int64_t i = 0; i < grid.area(); ++i) {
      const Rect tile{i / grid.cols * tiles.tile.rows, i % grid.cols * tiles.tile.cols,
                      rows_of(tiles, part, i), tiles.tile.cols};
      const Rect visible = tile.intersect(requested);
      if (visible.empty() || refused[i] != 0) continue;
      const std::byte* const rows = decoded + i * decoded_tile_bytes(tiles);
      unpredict_rows(
          tiles, rows, {visible.row - tile.row, visible.col - tile.col, visible.rows, visible.cols},
          out.crop({visible.row - requested.row, visible.col - requested.col, visible.rows, visible.cols}));
    }
  });
}

DeviceBackend add_codecs(DeviceBackend backend) {
  backend.encode_tiles = encode_tiles;
  backend.decoders.emplace(DeviceBackend::Decoders{decode_tiles, unpredict_tiles});
  return backend;
}

}  // namespace

const DeviceBackend gpu_with_codecs = add_codecs(gpu);

}  // namespace sepconv::simulated
