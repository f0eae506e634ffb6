#include "sepconv/io/tiff/block_decoder.hpp"

#include <catch2/catch.hpp>

namespace sepconv {
namespace {

TEST_CASE("The row that the floating-point predictor is undone in counts in a decoder's memory") {
  for (const std::uint16_t codec : {COMPRESSION_LZW, COMPRESSION_ADOBE_DEFLATE, COMPRESSION_ZSTD}) {
    CAPTURE(codec);
    BlockFormat format;
    format.extent = {1, 1 << 20};
    format.type = PixelType::f32;
    format.compression = codec;
    const std::int64_t without = BlockDecoder::memory_bytes(format);
    format.predictor = PREDICTOR_FLOATINGPOINT;
    CHECK(BlockDecoder::memory_bytes(format) >= without + format.row_bytes());
  }
}

}  // namespace
}  // namespace sepconv
