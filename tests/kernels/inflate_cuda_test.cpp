// zlib streams, intact and damaged, decoded on a GPU: every accepted stream has libdeflate's result.
#include <libdeflate.h>
#include <zlib.h>

#include <catch2/catch.hpp>
#include <vector>

#include "decode_tiles_case.hpp"

using namespace sepconv;
using namespace sepconv::test;

namespace {

/// A zlib stream encoded by zlib.
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

/// libdeflate's result; empty if the stream is invalid or does not decode to exactly `size` bytes.
Bytes decode_by_libdeflate(const Bytes& stream, std::size_t size) {
  Bytes out(size);
  auto* const decoder = libdeflate_alloc_decompressor();
  const auto result =
      libdeflate_zlib_decompress(decoder, stream.data(), stream.size(), out.data(), out.size(), nullptr);
  libdeflate_free_decompressor(decoder);
  return result == LIBDEFLATE_SUCCESS ? out : Bytes();
}

}  // namespace

TEST_CASE("A GPU decodes deflate streams of every kind", "[gpu][sanitize]") {
  SEPCONV_NEEDS_GPU();
  Random random(11);
  for (const Extent tile : {Extent{1, 1}, Extent{1, 7}, Extent{16, 16}, Extent{100, 41}, Extent{256, 300}}) {
    const EncodedTiles tiles{tile, 1, PixelType::u8};
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
  const EncodedTiles tiles{{30, 50}, 1, PixelType::u8};
  const auto size = static_cast<std::size_t>(tiles.bytes());
  std::vector<Bytes> streams;
  for (int i = 0; i < 600; ++i) {
    // Two of three sizes are one byte off.
    const Bytes stream = stream_of(content(random, size + random() % 3 - 1), static_cast<int>(random() % 10),
                                   random() % 3 == 0 ? Z_FIXED : Z_DEFAULT_STRATEGY);
    streams.push_back(damaged(stream, random));
  }
  const Decoded decoded = by_gpu(streams, tiles);
  int accepted = 0;
  for (std::size_t i = 0; i < streams.size(); ++i) {
    CAPTURE(i);
    if (decoded.refused[i] != 0) continue;
    ++accepted;
    const Bytes expected = decode_by_libdeflate(streams[i], size);
    REQUIRE(expected.size() == size);
    CHECK(is_tile(decoded, i, tiles, expected));
  }
  CHECK(accepted > 20);
}
