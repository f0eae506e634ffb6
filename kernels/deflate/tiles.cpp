#include "kernels/deflate/tiles.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "kernels/deflate/tiles_check.hpp"
#include "kernels/deflate/tiles_scratch.hpp"

namespace sepconv {

void check_tiles(const EncodedTiles& tiles, const ConstPixelView& part) {
  if (part.channels != tiles.channels || part.type != tiles.type) {
    throw InvalidArgument(fmt::format("tiles of {} channels of {} were given an image with {} of {}",
                                      tiles.channels, name_of(tiles.type), part.channels,
                                      name_of(part.type)));
  }
  if (tiles.tile.empty() || (!tiles.pads && tiles.tile.cols != part.extent.cols)) {
    throw InvalidArgument(fmt::format(
        "{} of {} x {} pixels do not cover {} columns; tiles have pixels, and strips the width of the image",
        tiles.pads ? "tiles" : "strips", tiles.tile.cols, tiles.tile.rows, part.extent.cols));
  }
  if (tiles.codec != BlockCodec::zlib && tiles.codec != BlockCodec::gzip && tiles.codec != BlockCodec::zstd)
    throw InvalidArgument("a GPU encodes tiles as zlib, gzip or zstd; use the CPU for other codecs");
  if (tiles.predictor < 1 || tiles.predictor > 3 || (tiles.predictor == 3 && !is_floating(tiles.type))) {
    throw InvalidArgument(fmt::format("predictor {} does not exist for {}; use 1, 2 or, for floats, 3",
                                      tiles.predictor, name_of(tiles.type)));
  }
}

std::int64_t encode_tiles_scratch_bytes(const EncodedTiles& tiles, Extent part) {
  return deflate::TilesScratch(tiles, part).bytes();
}

std::int64_t encode_tiles_max_bytes(const EncodedTiles& tiles, Extent part) {
  // Header and checksum, and 5 bytes and some bits for each stored block. A zstd frame has less overhead.
  constexpr std::int64_t kGzipOverhead = 12;  // overhead of gzip beyond that of zlib
  const std::int64_t stream =
      tiles.bytes() + 6 * (ceil_div(tiles.bytes(), deflate::kBlockBytes) + 2) + kGzipOverhead;
  return tiles.grid(part).area() * round_up(stream, kStreamAlignment);
}

}  // namespace sepconv
