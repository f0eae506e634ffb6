// Decodes tiles on a GPU, for tests with streams of any encoder.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "../support/gpu.hpp"
#include "core/memory.hpp"
#include "kernels/codec/decode.hpp"
#include "random_image.hpp"

namespace sepconv::test {

using Bytes = std::vector<std::byte>;

/// Content of tiles: noise of several widths, runs, and matches at short and long distances.
inline Bytes content(Random& random, std::size_t size) {
  Bytes bytes(size);
  const auto spread = static_cast<unsigned>(random_between(random, 1, 256));
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(random() % spread);
  const std::int64_t match_count = random_between(random, 0, 40);
  for (std::int64_t k = 0; k < match_count; ++k) {
    const auto at = static_cast<std::size_t>(random_between(random, 0, std::ssize(bytes) - 1));
    const auto length = static_cast<std::size_t>(random_between(random, 1, random() % 4 == 0 ? 9000 : 40));
    const auto distance = static_cast<std::size_t>(random_between(random, 1, random() % 2 == 0 ? 40 : 32768));
    for (std::size_t i = std::max(at, distance); i < std::min(size, at + length); ++i)
      bytes[i] = bytes[i - distance];
  }
  return bytes;
}

struct Decoded {
  Bytes bytes;  // of all tiles, one after another
  std::vector<std::int32_t> refused;
};

inline Decoded by_gpu(const std::vector<Bytes>& streams, const EncodedTiles& tiles) {
  const auto count = std::ssize(streams);
  std::vector<EncodedTile> table;
  Bytes all;
  for (const Bytes& stream : streams) {
    table.push_back({std::ssize(all), std::ssize(stream)});
    all.insert(all.end(), stream.begin(), stream.end());
    all.resize(static_cast<std::size_t>(round_up(std::ssize(all), kStreamAlignment)), std::byte{0xA5});
  }
  all.resize(all.size() + kStreamReadMargin, std::byte{0xA5});
  const auto table_bytes = static_cast<std::int64_t>(table.size() * sizeof(EncodedTile));
  const auto on_device = [](std::int64_t bytes) { return Buffer(bytes, device_resource()); };
  const Stream stream;
  const auto copy = [&](auto* to, const auto* from, std::int64_t bytes) {
    copy_rows(to, bytes, from, bytes, bytes, 1, stream.get());
  };
  const std::int64_t decoded_bytes = decode_tiles_bytes(tiles, count);
  const Buffer encoded = on_device(std::ssize(all)), entries = on_device(table_bytes),
               decoded = on_device(decoded_bytes), refused = on_device(4 * count);
  copy(encoded.data(), all.data(), std::ssize(all));
  copy(entries.data(), table.data(), table_bytes);
  const Bytes unwritten(static_cast<std::size_t>(decoded_bytes), std::byte{0x5A});  // tiles that are refused
  copy(decoded.data(), unwritten.data(), decoded_bytes);
  const Extent part{tiles.tile.rows * count, tiles.tile.cols};
  decode_tiles_device(encoded.data(), reinterpret_cast<const EncodedTile*>(entries.data()), tiles, part,
                      decoded.data(), reinterpret_cast<std::int32_t*>(refused.data()), stream.get());
  Decoded result{Bytes(static_cast<std::size_t>(decoded_bytes)), std::vector<std::int32_t>(streams.size())};
  copy(result.bytes.data(), decoded.data(), decoded_bytes);
  copy(result.refused.data(), refused.data(), 4 * count);
  stream.synchronize();
  return result;
}

inline bool is_tile(const Decoded& decoded, std::size_t tile, const EncodedTiles& tiles,
                    const Bytes& expected) {
  return std::memcmp(decoded.bytes.data() + tile * static_cast<std::size_t>(decoded_tile_bytes(tiles)),
                     expected.data(), expected.size()) == 0;
}

/// Truncates a stream or flips bits, more often near the start; leaves some streams intact.
inline Bytes damaged(Bytes stream, Random& random) {
  if (random() % 4 == 0)
    stream.resize(static_cast<std::size_t>(random_between(random, 0, std::ssize(stream))));
  for (std::uint64_t flips = random() % 4; flips > 0 && !stream.empty(); --flips)
    stream[random() % std::min<std::size_t>(stream.size(), random() % 2 == 0 ? 100 : stream.size())] ^=
        static_cast<std::byte>(1U << random() % 8);
  return stream;
}

}  // namespace sepconv::test
