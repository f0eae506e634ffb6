#include "sepconv/pipeline/plan/device_codecs.hpp"

#include <algorithm>

#include "sepconv/core/memory.hpp"
#include "sepconv/kernels/deflate/inflate.hpp"
#include "sepconv/kernels/deflate/tiles.hpp"

namespace sepconv {
namespace {

std::int64_t bytes_of_table(std::int64_t blocks) {
  return round_up(blocks * static_cast<std::int64_t>(sizeof(EncodedTile)), kAlignment);
}

/// What keeps a GPU from decoding blocks that are made for it.
std::string why_not_decoded(const Reader& source, bool wraps) {
  if (!can_inflate_tiles(*source.layout().coded)) return "its elements are no integers of 8 or 16 bits";
  if (wraps) return "rows of the other edge are read for border=wrap";
  return "";
}

}  // namespace

DeviceCodecs device_codecs(const Reader& source, const Writer& sink, bool wraps) {
  DeviceCodecs codecs;
  if (source.layout().coded) {
    const std::string why = why_not_decoded(source, wraps);
    codecs.decodes = why.empty();
    codecs.notes.push_back(why.empty() ? "the GPU decodes the source's blocks, which it gets as they are"
                                       : "the CPU decodes the source's blocks: " + why);
  }
  if (sink.layout().coded) {
    codecs.encodes = true;
    codecs.notes.emplace_back("the GPU encodes the sink's blocks, to the bytes that the CPU would make");
  }
  return codecs;
}

DecodingSizes::DecodingSizes(const CodedTiles& tiles, const ImageSpec& image, Extent part) {
  const Extent all = tiles.grid(image.extent);
  const Extent grid{std::min(all.rows, ceil_div(part.rows, tiles.tile.rows) + 1),
                    std::min(all.cols, ceil_div(part.cols, tiles.tile.cols) + 1)};
  blocks = grid.area();
  // Stored, as what cannot be made smaller is: 5 bytes for 65535, by other encoders for 16383 or so.
  most_stream_bytes = round_up(tiles.bytes() + tiles.bytes() / 1024 + 64, kStreamAlignment);
  table_bytes = bytes_of_table(blocks);
  encoded_bytes = round_up(blocks * most_stream_bytes + kInflateSlack, kAlignment);
  decoded_bytes = inflate_tiles_bytes(tiles, blocks);
  refused_bytes = round_up(blocks * static_cast<std::int64_t>(sizeof(std::int32_t)), kAlignment);
}

EncodingSizes::EncodingSizes(const CodedTiles& tiles, Extent band) {
  blocks = tiles.grid(band).area();
  table_bytes = bytes_of_table(blocks + 1);
  encoded_bytes = round_up(deflate_tiles_most_bytes(tiles, band), kAlignment);
  scratch_bytes = deflate_tiles_scratch_bytes(tiles, band);
}

}  // namespace sepconv
