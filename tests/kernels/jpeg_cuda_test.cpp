// JPEGs, intact and damaged, decoded on a GPU: the pixels equal libjpeg's bit for bit.
#include <catch2/catch.hpp>
#include <vector>

#include "decode_tiles_case.hpp"
#include "jpeg_case.hpp"

using namespace sepconv;
using namespace sepconv::test;

namespace {

EncodedTiles tiles_of(const JpegEncoderSettings& settings) {
  const jpeg::Geometry& g = settings.geometry;
  return {.tile = {g.rows, g.cols},
          .channels = g.components,
          .codec = BlockCodec::jpeg,
          .is_ycbcr = settings.is_ycbcr,
          .chroma_cols = static_cast<std::uint8_t>(g.across),
          .chroma_rows = static_cast<std::uint8_t>(g.down)};
}

}  // namespace

TEST_CASE("A GPU decodes JPEGs of every common kind to libjpeg's pixels", "[gpu][sanitize]") {
  SEPCONV_NEEDS_GPU();
  Random random(51);
  for (int kind = 0; kind < 60; ++kind) {
    JpegEncoderSettings settings = random_jpeg(random);
    if (kind % 10 == 9) settings.geometry.rows = 256, settings.geometry.cols = 240;
    const EncodedTiles tiles = tiles_of(settings);
    std::vector<Bytes> streams;
    for (int i = 0; i < 5; ++i) streams.push_back(jpeg_of(jpeg_pixels(random, settings.geometry), settings));
    const Decoded decoded = by_gpu(streams, tiles);
    for (std::size_t i = 0; i < streams.size(); ++i) {
      CAPTURE(kind, i, settings.geometry.rows, settings.geometry.cols, settings.quality);
      Bytes expected(jpeg_pixel_bytes(settings.geometry));
      REQUIRE(decode_by_libjpeg(streams[i], settings.geometry, settings.is_ycbcr, expected.data()));
      CHECK(decoded.refused[i] == 0);
      CHECK(is_tile(decoded, i, tiles, expected));
    }
  }
}

TEST_CASE("What a GPU takes of damaged JPEGs is what libjpeg makes of them", "[gpu][sanitize]") {
  SEPCONV_NEEDS_GPU();
  Random random(52);
  const JpegEncoderSettings settings{.geometry = {40, 50, 3, 2, 2}, .quality = 80, .restart_interval = 4};
  std::vector<Bytes> streams;
  for (int i = 0; i < 600; ++i)
    streams.push_back(damaged(jpeg_of(jpeg_pixels(random, settings.geometry), settings), random));
  const EncodedTiles tiles = tiles_of(settings);
  const Decoded decoded = by_gpu(streams, tiles);
  int accepted = 0, refused = 0;
  for (std::size_t i = 0; i < streams.size(); ++i) {
    CAPTURE(i);
    ++(decoded.refused[i] != 0 ? refused : accepted);
    if (decoded.refused[i] != 0) continue;
    Bytes expected(jpeg_pixel_bytes(settings.geometry));
    REQUIRE(decode_by_libjpeg(streams[i], settings.geometry, settings.is_ycbcr, expected.data()));
    CHECK(is_tile(decoded, i, tiles, expected));
  }
  CHECK(accepted > 50);
  CHECK(refused > 100);
}

TEST_CASE("JPEGs that a GPU does not decode are known before", "[gpu]") {
  EncodedTiles tiles{.tile = {16, 16}, .channels = 3, .codec = BlockCodec::jpeg, .is_ycbcr = true};
  CHECK(can_decode_tiles(tiles));
  tiles.chroma_rows = 1, tiles.chroma_cols = 2;
  CHECK(can_decode_tiles(tiles));
  tiles.chroma_rows = 2, tiles.chroma_cols = 1;
  CHECK(!can_decode_tiles(tiles));
  tiles.chroma_rows = 1, tiles.chroma_cols = 4;
  CHECK(!can_decode_tiles(tiles));
  tiles.chroma_rows = 1, tiles.chroma_cols = 1;
  for (const std::int64_t channels : {2, 4}) {
    tiles.channels = channels;
    CHECK(!can_decode_tiles(tiles));
  }
}
