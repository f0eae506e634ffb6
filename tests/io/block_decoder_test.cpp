#include "io/tiff/block_decoder.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "coded_bytes.hpp"
#include "core/error.hpp"
#include "io/deflate/deflater.hpp"
#include "io/tiff/block_encoder.hpp"
#include "io/tiff/block_pixels.hpp"
#include "libtiff_file.hpp"

namespace sepconv {
namespace {

using Bytes = std::vector<std::byte>;

struct JpegTile {
  Bytes tables, stream;
};

/// Encodes one TIFF tile as JPEG. `tables_mode` chooses which tables go into the JPEGTables tag.
JpegTile jpeg_tile(const BlockFormat& format, int quality, int tables_mode) {
  const TemporaryFolder folder;
  const GlobalMessages quiet;
  TIFF* const tiff = TIFFOpen((folder.path() / "tile.tif").c_str(), "w+");
  REQUIRE(tiff != nullptr);
  set_fields(tiff, {format.extent, 1, PixelType::u8}, {.compression = COMPRESSION_JPEG, .tiled = true});
  TIFFSetField(tiff, TIFFTAG_JPEGQUALITY, quality);
  TIFFSetField(tiff, TIFFTAG_JPEGTABLESMODE, tables_mode);
  Bytes pixels(static_cast<std::size_t>(format.bytes()));
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::byte>(i * i / 7);
  REQUIRE(TIFFWriteEncodedTile(tiff, 0, pixels.data(), static_cast<tmsize_t>(pixels.size())) > 0);
  JpegTile tile;
  std::uint32_t table_bytes = 0;
  const std::byte* tables = nullptr;
  if (tables_mode != 0 && TIFFGetField(tiff, TIFFTAG_JPEGTABLES, &table_bytes, &tables) == 1)
    tile.tables.assign(tables, tables + table_bytes);
  REQUIRE(TIFFWriteDirectory(tiff) == 1);
  REQUIRE(TIFFSetDirectory(tiff, 0) == 1);
  tile.stream.resize(TIFFGetStrileByteCount(tiff, 0));
  const auto stream_bytes = static_cast<tmsize_t>(tile.stream.size());
  REQUIRE(TIFFReadRawTile(tiff, 0, tile.stream.data(), stream_bytes) == stream_bytes);
  TIFFClose(tiff);
  return tile;
}

Bytes decoded(BlockDecoder& decoder, const Bytes& stream, const BlockFormat& format) {
  std::ranges::copy(stream, decoder.encoded(std::ssize(stream)).begin());
  Bytes pixels(static_cast<std::size_t>(format.bytes()), std::byte{0xA5});
  decoder.decode(pixels, "block");
  return pixels;
}

BlockFormat jpeg_format() {
  BlockFormat format;
  format.extent = {16, 32};
  format.compression = COMPRESSION_JPEG;
  return format;
}

TEST_CASE("A decoder's memory includes the row in which the floating-point predictor is undone") {
  for (const std::uint16_t codec : {COMPRESSION_LZW, COMPRESSION_ADOBE_DEFLATE, COMPRESSION_ZSTD}) {
    CAPTURE(codec);
    BlockFormat format;
    format.extent = {1, 1 << 20};
    format.type = PixelType::f32;
    format.compression = codec;
    const std::int64_t bytes_without = BlockDecoder::memory_bytes(format);
    format.predictor = PREDICTOR_FLOATINGPOINT;
    CHECK(BlockDecoder::memory_bytes(format) >= bytes_without + format.row_bytes());
  }
}

TEST_CASE("A JPEG is decoded with the shared tables or with its own, regardless of the previous block") {
  BlockFormat format = jpeg_format();
  const JpegTile shared = jpeg_tile(format, 90, JPEGTABLESMODE_QUANT | JPEGTABLESMODE_HUFF);
  const JpegTile separate = jpeg_tile(format, 10, 0);
  format.jpeg_tables = shared.tables;
  REQUIRE(!shared.tables.empty());
  const Bytes by_shared = decoded(*std::make_unique<BlockDecoder>(format, "a"), shared.stream, format);
  const Bytes by_separate = decoded(*std::make_unique<BlockDecoder>(format, "b"), separate.stream, format);
  REQUIRE(by_shared != by_separate);
  BlockDecoder decoder(format, "c");
  for (int round = 0; round < 2; ++round) {
    CHECK(decoded(decoder, separate.stream, format) == by_separate);
    CHECK(decoded(decoder, shared.stream, format) == by_shared);
    CHECK(decoded(decoder, shared.stream, format) == by_shared);
  }
}

TEST_CASE("A JPEG without quantization tables is an error, even after a block that has them") {
  const BlockFormat format = jpeg_format();
  const Bytes whole = jpeg_tile(format, 90, 0).stream;
  const Bytes part = jpeg_tile(format, 90, JPEGTABLESMODE_QUANT).stream;
  BlockDecoder decoder(format, "a");
  for (int round = 0; round < 2; ++round) {
    const Bytes pixels = decoded(decoder, whole, format);
    CHECK_THROWS_AS(decoded(decoder, part, format), IoError);
    CHECK(decoded(decoder, whole, format) == pixels);
  }
}

/// Result of decoding a block with one flipped bit.
enum class Flipped : std::uint8_t { refused, same, other };

Flipped flipped(BlockDecoder& decoder, Bytes stream, std::size_t bit, const BlockFormat& format,
                const Bytes& expected) {
  stream[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
  try {
    return decoded(decoder, stream, format) == expected ? Flipped::same : Flipped::other;
  } catch (const IoError&) {
    return Flipped::refused;
  }
}

TEST_CASE("A flipped bit in a deflate or zstd block never yields different pixels") {
  struct Codec {
    std::uint16_t compression;
    int level;
  };
  const Codec codec =
      GENERATE(Codec{COMPRESSION_ADOBE_DEFLATE, deflate::kFast}, Codec{COMPRESSION_ADOBE_DEFLATE, 6},
               Codec{COMPRESSION_ZSTD, deflate::kFast}, Codec{COMPRESSION_ZSTD, 1});
  // Little noise gives compressed blocks. Strong noise gives stored blocks only: three in zstd, whose lengths
  // locate the next block.
  const auto [extent, spread] =
      GENERATE(std::pair<Extent, double>{{20, 30}, 2.0}, std::pair<Extent, double>{{257, 701}, 1e4});
  CAPTURE(codec.compression, codec.level, extent.rows);
  BlockFormat format;
  format.extent = extent;
  format.compression = codec.compression;
  format.level = codec.level;
  format.predictor = PREDICTOR_HORIZONTAL;
  coded_bytes::Random random(8);
  Bytes pixels = coded_bytes::noise(static_cast<std::size_t>(format.bytes()), spread, random);
  EncodedBlock block;
  const ImageSpec spec{extent, 1, PixelType::u8};
  BlockEncoder::make(format, "a")->encode(dense_view(pixels.data(), spec), kAllChannels, block);
  const Bytes stream(block.bytes().begin(), block.bytes().end());
  BlockDecoder decoder(format, "a");
  REQUIRE(decoded(decoder, stream, format) == pixels);
  int same = 0, other = 0;
  const auto try_bit = [&](std::size_t bit) {
    const Flipped result = flipped(decoder, stream, bit, format, pixels);
    (result == Flipped::same ? same : other) += result == Flipped::refused ? 0 : 1;
  };
  const bool all = stream.size() < 2000;
  for (std::size_t bit = 0; bit < 8 * stream.size(); bit += all ? 1 : 1999) try_bit(bit);
  // The headers of the zstd blocks.
  for (std::size_t head = 0; head < 3 && !all; ++head)
    for (std::size_t bit = 0; bit < 32; ++bit) try_bit(8 * (6 + head * (65536 + 3)) + bit);
  CHECK(other == 0);
  CHECK(same < 40);  // bits of the window size, and bits that decoders ignore
}

/// A zstd frame of `first` followed by `zeros` zero bytes. It requests a window of 2^27 bytes and does not
/// state its content size. RLE blocks of 128 KiB take four bytes each.
Bytes zstd_frame(const Bytes& first, std::size_t zeros) {
  constexpr std::size_t kMaxOfBlock = 128 << 10;
  Bytes frame;
  const auto put_le = [&](std::uint32_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) frame.push_back(static_cast<std::byte>(value >> 8 * i));
  };
  const auto write_block_header = [&](std::size_t size, std::uint32_t kind, bool is_last) {
    put_le(static_cast<std::uint32_t>(size) << 3 | kind << 1 | (is_last ? 1 : 0), 3);
  };
  put_le(0xFD2FB528, 4);
  put_le(0, 1);
  put_le((27 - 10) << 3, 1);
  write_block_header(first.size(), 0, zeros == 0);
  frame.insert(frame.end(), first.begin(), first.end());
  for (std::size_t size = 0; zeros > 0; zeros -= size) {
    size = std::min(zeros, kMaxOfBlock);
    write_block_header(size, 1, zeros == size);
    put_le(0, 1);
  }
  return frame;
}

TEST_CASE("A stream far longer than its block is an error that takes no memory and no time") {
  BlockFormat format;
  format.extent = {20, 30};
  coded_bytes::Random random(9);
  const Bytes pixels = coded_bytes::noise(600, 2.0, random);
  const std::size_t max_zeros = static_cast<std::size_t>(format.max_decoded_bytes()) - pixels.size();
  SECTION("zstd") {
    format.compression = COMPRESSION_ZSTD;
    BlockDecoder decoder(format, "a.tif");
    CHECK(decoded(decoder, zstd_frame(pixels, 0), format) == pixels);
    CHECK(decoded(decoder, zstd_frame(pixels, max_zeros), format) == pixels);
    // Half a MiB of blocks of 128 KiB each.
    for (const std::size_t zeros : {max_zeros + 1, std::size_t{16} << 30})
      CHECK_THROWS_WITH(decoded(decoder, zstd_frame(pixels, zeros), format),
                        "a.tif: block: its zstd frame holds far more than its pixels");
    CHECK_THROWS_WITH(decoded(decoder, zstd_frame(Bytes(599), 0), format),
                      "a.tif: block: its zstd frame holds fewer pixels");
  }
  SECTION("deflate") {
    format.compression = COMPRESSION_ADOBE_DEFLATE;
    BlockDecoder decoder(format, "a.tif");
    const auto deflate_stream = [&](std::size_t zeros) {
      Bytes all = pixels;
      all.resize(all.size() + zeros);
      deflate::Deflater encoder(6);
      Bytes stream(static_cast<std::size_t>(encoder.max_bytes(std::ssize(all))));
      stream.resize(static_cast<std::size_t>(encoder.encode(all, {}, stream)));
      return stream;
    };
    CHECK(decoded(decoder, deflate_stream(0), format) == pixels);
    CHECK(decoded(decoder, deflate_stream(max_zeros), format) == pixels);
    for (const std::size_t zeros : {max_zeros + 1, std::size_t{64} << 20})
      CHECK_THROWS_WITH(decoded(decoder, deflate_stream(zeros), format),
                        "a.tif: block: its deflate stream holds far more than its pixels");
  }
}

TEST_CASE("A zstd frame longer than its block is read if its checksum matches") {
  BlockFormat format;
  format.extent = {20, 30};
  format.compression = COMPRESSION_ZSTD;
  coded_bytes::Random random(9);
  const Bytes all = coded_bytes::noise(5000, 2.0, random);
  Bytes frame(ZSTD_compressBound(all.size()));
  frame.resize(static_cast<std::size_t>(ZstdEncoder(1).encode(all, frame)));
  BlockDecoder decoder(format, "a.tif");
  CHECK(decoded(decoder, frame, format) == Bytes(all.begin(), all.begin() + 600));
  frame.back() ^= std::byte{1};
  CHECK_THROWS_WITH(decoded(decoder, frame, format), "a.tif: block: its zstd frame is broken");
}

}  // namespace
}  // namespace sepconv
