// Whether GPUs decode the source's blocks and encode the sink's, so that both cross the bus encoded, and the
// memory for it. Internal to the planner and the runner.
#pragma once

#include <string>
#include <vector>

#include "core/encoded_tiles.hpp"
#include "io/reader.hpp"
#include "io/writer.hpp"

namespace sepconv {

struct DeviceCodecs {
  bool decodes = false, encodes = false;
  std::vector<std::string> notes{};  ///< why the CPU codes blocks that a GPU could code in other files
};

/// `reads_beyond_edges`: pixels beyond any of the source's edges are read.
DeviceCodecs device_codecs(const Reader& source, const Writer& sink, bool reads_beyond_edges);

/// Blocks that cover any part of this extent, which may begin inside a block, and their buffers: a table of
/// EncodedTile, then the streams, and flags for refused blocks. Also the pixels of refused blocks, shared by
/// a device's bands: one block per decoding thread.
struct DecodingSizes {
  DecodingSizes(const EncodedTiles& tiles, const ImageSpec& image, Extent part, int threads);

  std::int64_t blocks;
  std::int64_t streams_bytes;  ///< per band; the CPU decodes blocks that do not fit, which is rare
  std::int64_t table_bytes, encoded_bytes, decoded_bytes, refused_bytes;
  std::int64_t block_bytes;       ///< offset from one decoded block to the next
  std::int64_t redecoded_blocks;  ///< refused blocks that the CPU decodes simultaneously

  std::int64_t host_bytes() const noexcept { return table_bytes + encoded_bytes + refused_bytes; }
  std::int64_t device_bytes() const noexcept { return host_bytes() + decoded_bytes; }
  std::int64_t redecoded_bytes() const noexcept { return redecoded_blocks * block_bytes; }
};

/// The same for a band's encoded blocks, on host and device, plus the device scratch that all bands share.
struct EncodingSizes {
  EncodingSizes(const EncodedTiles& tiles, Extent band);

  std::int64_t blocks;
  std::int64_t table_bytes, encoded_bytes, scratch_bytes;

  std::int64_t slot_bytes() const noexcept { return table_bytes + encoded_bytes; }
};

}  // namespace sepconv
