// Streams of any encoder, whole and damaged, that a GPU decodes: what it takes is what libdeflate makes of
// it.
#include <libdeflate.h>
#include <zlib.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <vector>

#include "../support/gpu.hpp"
#include "random_image.hpp"
#include "sepconv/core/memory.hpp"
#include "sepconv/kernels/deflate/inflate.hpp"

using namespace sepconv;

namespace {

using Bytes = std::vector<std::byte>;

/// A zlib stream by zlib itself.
Bytes stream_of(const Bytes& bytes, int level, int strategy) {
  z_stream zlib{};
  REQUIRE(deflateInit2(&zlib, level, Z_DEFLATED, 15, 8, strategy) == Z_OK);
  Bytes stream(deflateBound(&zlib, bytes.size()));
  zlib.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data()));
  zlib.avail_in = static_cast<uInt>(bytes.size());
  zlib.next_out = reinterpret_cast<Bytef*>(stream.data());
  zlib.avail_out = static_cast<uInt>(stream.size());
  REQUIRE(deflate(&zlib, Z_FINISH) == Z_STREAM_END);
  stream.resize(zlib.total_out);
  deflateEnd(&zlib);
  return stream;
}

/// What tiles hold: noise of several widths, runs, and strings that come again near and far.
Bytes content(Random& random, std::size_t size) {
  Bytes bytes(size);
  const auto spread = static_cast<unsigned>(random_between(random, 1, 256));
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(random() % spread);
  const std::int64_t repeats = random_between(random, 0, 40);
  for (std::int64_t k = 0; k < repeats; ++k) {
    const auto at = static_cast<std::size_t>(random_between(random, 0, std::ssize(bytes) - 1));
    const auto length = static_cast<std::size_t>(random_between(random, 1, random() % 4 == 0 ? 9000 : 40));
    const auto distance = static_cast<std::size_t>(random_between(random, 1, random() % 2 == 0 ? 40 : 32768));
    for (std::size_t i = std::max(at, distance); i < std::min(size, at + length); ++i)
      bytes[i] = bytes[i - distance];
  }
  return bytes;
}

struct Decoded {
  Bytes bytes;  // of all tiles, one behind the other
  std::vector<std::int32_t> refused;
};

Decoded by_gpu(const std::vector<Bytes>& streams, const CodedTiles& tiles) {
  const auto count = std::ssize(streams);
  std::vector<EncodedTile> table;
  Bytes all;
  for (const Bytes& stream : streams) {
    table.push_back({std::ssize(all), std::ssize(stream)});
    all.insert(all.end(), stream.begin(), stream.end());
    all.resize(static_cast<std::size_t>(round_up(std::ssize(all), 16)), std::byte{0xA5});
  }
  all.resize(all.size() + kInflateSlack, std::byte{0xA5});
  const auto table_bytes = static_cast<std::int64_t>(table.size() * sizeof(EncodedTile));
  const auto on_device = [](std::int64_t bytes) { return Buffer(bytes, device_resource()); };
  const Stream stream;
  const auto copy = [&](auto* to, const auto* from, std::int64_t bytes) {
    copy_rows(to, bytes, from, bytes, bytes, 1, stream.get());
  };
  const std::int64_t decoded_bytes = inflate_tiles_bytes(tiles, count);
  const Buffer encoded = on_device(std::ssize(all)), entries = on_device(table_bytes),
               decoded = on_device(decoded_bytes), refused = on_device(4 * count);
  copy(encoded.data(), all.data(), std::ssize(all));
  copy(entries.data(), table.data(), table_bytes);
  const Extent part{tiles.tile.rows * count, tiles.tile.cols};
  inflate_tiles_cuda(encoded.data(), reinterpret_cast<const EncodedTile*>(entries.data()), tiles, part,
                     decoded.data(), reinterpret_cast<std::int32_t*>(refused.data()), stream.get());
  Decoded result{Bytes(static_cast<std::size_t>(decoded_bytes)), std::vector<std::int32_t>(streams.size())};
  copy(result.bytes.data(), decoded.data(), decoded_bytes);
  copy(result.refused.data(), refused.data(), 4 * count);
  stream.synchronize();
  return result;
}

/// Nothing where libdeflate takes it for no stream of exactly so many bytes.
Bytes by_libdeflate(const Bytes& stream, std::size_t size) {
  Bytes out(size);
  auto* const decoder = libdeflate_alloc_decompressor();
  const auto result =
      libdeflate_zlib_decompress(decoder, stream.data(), stream.size(), out.data(), out.size(), nullptr);
  libdeflate_free_decompressor(decoder);
  return result == LIBDEFLATE_SUCCESS ? out : Bytes();
}

bool is_tile(const Decoded& decoded, std::size_t tile, const CodedTiles& tiles, const Bytes& expected) {
  return std::memcmp(decoded.bytes.data() + tile * static_cast<std::size_t>(decoded_tile_bytes(tiles)),
                     expected.data(), expected.size()) == 0;
}

}  // namespace

TEST_CASE("A GPU decodes deflate streams of every kind", "[gpu][sanitize]") {
  SEPCONV_NEEDS_GPU();
  Random random(11);
  for (const Extent tile : {Extent{1, 1}, Extent{1, 7}, Extent{16, 16}, Extent{100, 41}, Extent{256, 300}}) {
    const CodedTiles tiles{tile, 1, PixelType::u8};
    std::vector<Bytes> contents, streams;
    for (const int strategy : {Z_DEFAULT_STRATEGY, Z_FILTERED, Z_HUFFMAN_ONLY, Z_RLE, Z_FIXED}) {
      for (const int level : {0, 1, 4, 6, 9}) {
        contents.push_back(content(random, static_cast<std::size_t>(tiles.bytes())));
        streams.push_back(stream_of(contents.back(), level, strategy));
      }
    }
    const Decoded decoded = by_gpu(streams, tiles);
    for (std::size_t i = 0; i < streams.size(); ++i) {
      CAPTURE(tile.rows, tile.cols, i);
      CHECK(decoded.refused[i] == 0);
      CHECK(is_tile(decoded, i, tiles, contents[i]));
    }
  }
}

TEST_CASE("What a GPU takes of damaged deflate streams is what libdeflate makes of them", "[gpu][sanitize]") {
  SEPCONV_NEEDS_GPU();
  Random random(12);
  const CodedTiles tiles{{30, 50}, 1, PixelType::u8};
  const auto size = static_cast<std::size_t>(tiles.bytes());
  std::vector<Bytes> streams;
  for (int i = 0; i < 600; ++i) {
    // Of another size now and then; cut off, or with bits that are others.
    Bytes stream = stream_of(content(random, size + random() % 3 - 1), static_cast<int>(random() % 10),
                             random() % 3 == 0 ? Z_FIXED : Z_DEFAULT_STRATEGY);
    if (random() % 4 == 0)
      stream.resize(static_cast<std::size_t>(random_between(random, 0, std::ssize(stream))));
    for (std::uint64_t flips = random() % 4; flips > 0 && !stream.empty(); --flips)
      stream[random() % std::min<std::size_t>(stream.size(), random() % 2 == 0 ? 100 : stream.size())] ^=
          static_cast<std::byte>(1U << random() % 8);
    streams.push_back(stream);
  }
  const Decoded decoded = by_gpu(streams, tiles);
  int taken = 0;
  for (std::size_t i = 0; i < streams.size(); ++i) {
    CAPTURE(i);
    if (decoded.refused[i] != 0) continue;
    ++taken;
    const Bytes expected = by_libdeflate(streams[i], size);
    REQUIRE(expected.size() == size);
    CHECK(is_tile(decoded, i, tiles, expected));
  }
  CHECK(taken > 20);
}
