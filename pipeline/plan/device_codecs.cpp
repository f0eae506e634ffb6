#include "pipeline/plan/device_codecs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/byte_text.hpp"
#include "core/memory.hpp"
#include "kernels/codec/decode.hpp"
#include "kernels/deflate/tiles.hpp"
#include "kernels/device/optional_kernels.hpp"

namespace sepconv {
namespace {

std::int64_t table_bytes_of(std::int64_t blocks) {
  return round_up(blocks * static_cast<std::int64_t>(sizeof(EncodedTile)), kAlignment);
}

/// A small part of a GPU decodes one block sequentially; larger blocks would take longer than on the CPU.
constexpr std::int64_t kMaxDecodedBlock = std::int64_t{16} << 20;

/// Why a GPU cannot decode blocks of a supported kind; empty if it can.
std::string why_not_decoded(const Reader& source, bool reads_beyond_edges) {
  // Pixels that only the GPU has can only be searched for NaN there.
  if (std::string lacking = lacking_kernels(DeviceKernels::decoders | DeviceKernels::nan_search);
      !lacking.empty())
    return lacking;
  if (!can_decode_tiles(*source.layout().coded))
    return "a GPU decodes JPEGs of 1 or 3 components, with chroma whole or halved across or both ways";
  if (source.layout().coded->bytes() > kMaxDecodedBlock)
    return fmt::format("a block has {}, and a GPU decodes those of up to {} well",
                       format_bytes(static_cast<double>(source.layout().coded->bytes())),
                       format_bytes(static_cast<double>(kMaxDecodedBlock)));
  if (reads_beyond_edges) return "beyond its edges the image is read once more for border=wrap";
  return "";
}

/// Upper bound of a stream's size, on average over blocks. JPEG: small streams include their tables, and
/// those of best quality can exceed their pixels. Others store incompressible data: deflate adds 5 bytes per
/// 65535 (some encoders per 16383), zstd 3 per 131072, LZ4 1 per 255.
std::int64_t max_stream_bytes(const EncodedTiles& tiles) {
  const std::int64_t bytes = tiles.bytes();
  const std::int64_t max_bytes =
      tiles.codec == BlockCodec::jpeg ? bytes + bytes / 4 + 1024 : bytes + bytes / 255 + 64;
  return round_up(max_bytes, kStreamAlignment);
}

/// Whether files with this codec have coded blocks.
bool has_codec(const std::string& codec) {
  return codec != kInMemory && codec != kUncompressed && codec != kPicture;
}

}  // namespace

DeviceCodecs device_codecs(const Reader& source, const Writer& sink, bool reads_beyond_edges) {
  DeviceCodecs codecs;
  if (source.layout().coded) {
    const std::string reason = why_not_decoded(source, reads_beyond_edges);
    codecs.decodes = reason.empty();
    codecs.notes.push_back(reason.empty() ? "the GPU decodes the source's blocks, which it gets as they are"
                                          : "the CPU decodes the source's blocks: " + reason);
  } else if (const SourceLayout& layout = source.layout(); layout.streams && has_codec(layout.codec)) {
    codecs.notes.emplace_back(
        "the CPU decodes the source's blocks: a GPU decodes deflate, zstd, gzip, LZ4 and baseline JPEG (if "
        "the first block says that it is), each alone, of whole pixels of a pixel type, with no mask, other "
        "image or filter along z between them and the chain");
  }
  if (sink.layout().coded) {
    const std::string lacking = lacking_kernels(DeviceKernels::encoders);
    codecs.encodes = lacking.empty();
    codecs.notes.push_back(lacking.empty()
                               ? "the GPU encodes the sink's blocks, to the bytes that the CPU would make"
                               : "the CPU encodes the sink's blocks: " + lacking);
  } else if (const std::string& codec = sink.layout().codec; has_codec(codec)) {
    codecs.notes.push_back(
        fmt::format("the CPU encodes the sink's blocks ({}): {}", codec,
                    codec.ends_with(":fast")
                        ? "a GPU does so where each is stored alone and holds whole pixels of a pixel type, "
                          "in this machine's byte order, and no smaller levels are made"
                        : "a GPU makes its bytes of deflate:fast and zstd:fast only"));
  }
  return codecs;
}

DecodingSizes::DecodingSizes(const EncodedTiles& tiles, const ImageSpec& image, Extent part, int threads) {
  const Extent all = tiles.grid(image.extent);
  const Extent grid{std::min(all.rows, ceil_div(part.rows, tiles.tile.rows) + 1),
                    std::min(all.cols, ceil_div(part.cols, tiles.tile.cols) + 1)};
  blocks = grid.area();
  streams_bytes = blocks * max_stream_bytes(tiles);
  table_bytes = table_bytes_of(blocks);
  encoded_bytes = round_up(streams_bytes + kStreamReadMargin, kAlignment);
  decoded_bytes = decode_tiles_bytes(tiles, blocks);
  refused_bytes = round_up(blocks * static_cast<std::int64_t>(sizeof(std::int32_t)), kAlignment);
  block_bytes = decoded_tile_bytes(tiles);
  redecoded_blocks = std::min<std::int64_t>(blocks, threads);
}

EncodingSizes::EncodingSizes(const EncodedTiles& tiles, Extent band) {
  blocks = tiles.grid(band).area();
  table_bytes = table_bytes_of(blocks + 1);
  encoded_bytes = round_up(encode_tiles_max_bytes(tiles, band), kAlignment);
  scratch_bytes = encode_tiles_scratch_bytes(tiles, band);
}

}  // namespace sepconv
