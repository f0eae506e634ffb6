// Whether GPUs decode the source's blocks and encode the sink's, so that both cross the bus as they lie in
// their files, and the memory that takes. Internal to the planner and to the runner.
#pragma once

#include <string>
#include <vector>

#include "core/encoded_tiles.hpp"
#include "io/reader.hpp"
#include "io/writer.hpp"

namespace sepconv {

struct DeviceCodecs {
  bool decodes = false, encodes = false;
  std::vector<std::string> notes{};  ///< why the CPU does what files with such blocks would let a GPU do
};

/// `repeats`: pixels beyond the source's edges are read, to any side.
DeviceCodecs device_codecs(const Reader& source, const Writer& sink, bool repeats);

/// The blocks that cover a part of an image that may begin inside of one, and their buffers: a table of
/// EncodedTile, the streams behind it, and what was refused. And what the bands of a device share: pixels of
/// refused blocks, of this many at once as there are threads to decode them.
struct DecodingSizes {
  DecodingSizes(const EncodedTiles& tiles, const ImageSpec& image, Extent part, int threads);

  std::int64_t blocks;
  std::int64_t streams_bytes;  ///< of a band's; what does not fit, which encoders hardly make, is the CPU's
  std::int64_t table_bytes, encoded_bytes, decoded_bytes, refused_bytes;
  std::int64_t block_bytes;       ///< from one decoded block to the next
  std::int64_t redecoded_blocks;  ///< refused ones that the CPU decodes at once

  std::int64_t host_bytes() const noexcept { return table_bytes + encoded_bytes + refused_bytes; }
  std::int64_t device_bytes() const noexcept { return host_bytes() + decoded_bytes; }
  std::int64_t redecoded_bytes() const noexcept { return redecoded_blocks * block_bytes; }
};

/// The same of what a band is encoded to, on the host and on a device; and what all bands share on that.
struct EncodingSizes {
  EncodingSizes(const EncodedTiles& tiles, Extent band);

  std::int64_t blocks;
  std::int64_t table_bytes, encoded_bytes, scratch_bytes;

  std::int64_t slot_bytes() const noexcept { return table_bytes + encoded_bytes; }
};

}  // namespace sepconv
