// Tiles encoded on a GPU equal those of the CPU's coder byte for byte, and libdeflate and libzstd decode
// them.
#include <libdeflate.h>
#include <zstd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <vector>

#include "../support/gpu.hpp"
#include "io/deflate/raster_coder.hpp"
#include "io/tiff/block_pixels.hpp"
#include "io/tiff/predictor.hpp"
#include "io/zstd/raster_coder.hpp"
#include "kernels/deflate/tiles.hpp"
#include "random_image.hpp"

using namespace sepconv;
using sepconv::test::DeviceImage;

namespace {

using Bytes = std::vector<std::byte>;

/// Encoded streams one after another, with zeros between and after them.
struct EncodedStreams {
  Bytes bytes;
  std::vector<std::int64_t> entries;  ///< offset and size of each stream, and the end offset

  EncodedStreams(const EncodedTiles& tiles, Extent part, int poison)
      : bytes(static_cast<std::size_t>(encode_tiles_max_bytes(tiles, part)), static_cast<std::byte>(poison)),
        entries(2 * static_cast<std::size_t>(tiles.grid(part).area() + 1), poison) {}
};

EncodedStreams encode_on_gpu(const ConstPixelView& in, const EncodedTiles& tiles, const Stream& stream) {
  const auto on_device = [](std::int64_t bytes) { return Buffer(bytes, device_resource()); };
  const auto copy = [&](auto* to, const auto* from, std::int64_t bytes) {
    copy_rows(to, 0, from, 0, bytes, 1, stream.get());
  };
  EncodedStreams coded(tiles, in.extent, 0xA5);
  const auto entry_bytes = static_cast<std::int64_t>(coded.entries.size() * sizeof(std::int64_t));
  const Buffer scratch = on_device(encode_tiles_scratch_bytes(tiles, in.extent));
  const Buffer encoded = on_device(std::ssize(coded.bytes)), entries = on_device(entry_bytes);
  copy(encoded.data(), coded.bytes.data(), std::ssize(coded.bytes));
  encode_tiles_device(in, tiles, scratch.data(), encoded.data(),
                      reinterpret_cast<EncodedTile*>(entries.data()), stream.get());
  copy(coded.bytes.data(), encoded.data(), std::ssize(coded.bytes));
  copy(coded.entries.data(), entries.data(), entry_bytes);
  stream.synchronize();
  return coded;
}

BlockFormat format_of(const EncodedTiles& tiles, Extent filled) {
  BlockFormat format;
  format.extent = {tiles.pads ? tiles.tile.rows : filled.rows, tiles.tile.cols};
  format.channels = tiles.channels;
  format.type = tiles.type;
  format.predictor = static_cast<std::uint16_t>(tiles.predictor);
  return format;
}

/// The bytes of a tile that are compressed: the padded block, with the predictor applied.
Bytes tile_bytes(const ConstPixelView& pixels, const EncodedTiles& tiles) {
  const BlockFormat format = format_of(tiles, pixels.extent);
  Bytes block(static_cast<std::size_t>(format.bytes())), predicted = block;
  for (std::size_t i = 0; tiles.fill && i < block.size(); i += static_cast<std::size_t>(size_of(tiles.type)))
    std::memcpy(&block[i], &*tiles.fill, static_cast<std::size_t>(size_of(tiles.type)));
  copy_to_block(pixels, format.type, kAllChannels, block.data(), format.row_bytes());
  if (!tiles.fill) pad_block(block.data(), format, pixels.extent);
  if (tiles.predictor == 1) return block;
  apply_predictor(block.data(), format.row_bytes(), predicted.data(), format);
  return predicted;
}

void check_decodes(std::span<const std::byte> stream, BlockCodec codec, const Bytes& expected) {
  Bytes out(expected.size());
  if (codec == BlockCodec::zstd) {
    CHECK(ZSTD_decompress(out.data(), out.size(), stream.data(), stream.size()) == out.size());
    const bool same = out == expected;
    CHECK(same);
    return;
  }
  auto* const decoder = libdeflate_alloc_decompressor();
  const bool is_gzip = codec == BlockCodec::gzip;
  const auto result = (is_gzip ? libdeflate_gzip_decompress : libdeflate_zlib_decompress)(
      decoder, stream.data(), stream.size(), out.data(), out.size(), nullptr);
  libdeflate_free_decompressor(decoder);
  CHECK(result == LIBDEFLATE_SUCCESS);
  const bool same = out == expected;
  CHECK(same);
}

EncodedStreams encode_on_cpu(const ConstPixelView& in, const EncodedTiles& tiles) {
  EncodedStreams coded(tiles, in.extent, 0);
  deflate::RasterCoder coder;
  zstd::RasterCoder zstd_coder;
  const Extent grid = tiles.grid(in.extent);
  std::int64_t offset = 0;
  std::size_t entry = 0;
  for (std::int64_t i = 0; i < grid.area(); ++i) {
    const Rect tile{i / grid.cols * tiles.tile.rows, i % grid.cols * tiles.tile.cols, tiles.tile.rows,
                    tiles.tile.cols};
    const Bytes bytes = tile_bytes(in.crop(tile.intersect(Rect::whole(in.extent))), tiles);
    Bytes stream(static_cast<std::size_t>(deflate::RasterCoder::max_bytes(std::ssize(bytes)) +
                                          zstd::RasterCoder::max_bytes(0)));
    const deflate::MatchDistances raster{tiles.channels * size_of(tiles.type), tiles.row_bytes()};
    const std::int64_t size = tiles.codec == BlockCodec::zstd
                                  ? zstd_coder.encode(bytes, raster, tiles.has_checksum, stream)
                              : tiles.codec == BlockCodec::gzip ? coder.encode_gzip(bytes, raster, stream)
                                                                : coder.encode(bytes, raster, stream);
    stream.resize(static_cast<std::size_t>(size));
    check_decodes(stream, tiles.codec, bytes);
    std::ranges::copy(stream, coded.bytes.begin() + offset);
    coded.entries[entry++] = offset, coded.entries[entry++] = size;
    offset = round_up(offset + size, kStreamAlignment);
  }
  coded.entries[entry] = offset;
  return coded;
}

enum class Content { noise, constant, ramp, differences, mask, matches };

/// A random difference of either sign with mean magnitude `spread`, as a predictor produces.
std::byte difference(Random& random, double spread) {
  std::geometric_distribution<int> magnitude(1 / (1 + spread));
  const int value = magnitude(random);
  return static_cast<std::byte>((random() & 1) != 0 ? value : -value);
}

/// Inserts copies of the previous pixel and of the row above, many of them short and some kilobytes long.
void put_matches(std::span<std::byte> bytes, const EncodedTiles& tiles, std::int64_t pitch_bytes,
                 Random& random) {
  const std::int64_t distances[] = {tiles.channels * size_of(tiles.type), tiles.row_bytes(), pitch_bytes};
  for (std::int64_t at = 0; at < std::ssize(bytes); at += random_between(random, 1, 90)) {
    const std::int64_t max_length = random_between(random, 0, 50) == 0 ? 9000 : 60;
    const std::int64_t end = std::min(std::ssize(bytes), at + random_between(random, 0, max_length));
    const std::int64_t distance = random_choice(random, distances);
    for (std::int64_t i = std::max(at, distance); i < end; ++i)
      bytes[static_cast<std::size_t>(i)] = bytes[static_cast<std::size_t>(i - distance)];
    if (max_length > 60) at = end;
  }
}

void fill(const Image& image, const EncodedTiles& tiles, Content content, Random& random) {
  const std::span<std::byte> bytes(image.buffer.data(), static_cast<std::size_t>(image.buffer.size()));
  bool is_set = false;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (random() % 97 == 0) is_set = !is_set;
    bytes[i] = content == Content::noise      ? static_cast<std::byte>(random())
               : content == Content::constant ? std::byte{7}
               : content == Content::ramp     ? static_cast<std::byte>(i / 3)
               : content == Content::mask     ? static_cast<std::byte>(is_set ? 255 : 0)
                                              : difference(random, 3);
  }
  if (content == Content::matches) put_matches(bytes, tiles, image.pitch_bytes, random);
}

/// Encodes part of an image whose rows are not contiguous and whose first pixel is not aligned.
void check_one_coding(const EncodedTiles& tiles, Extent part, Content content) {
  CAPTURE(static_cast<int>(tiles.codec), name_of(tiles.type), tiles.channels, tiles.predictor, tiles.pads,
          tiles.tile.rows, tiles.tile.cols, part.rows, part.cols, static_cast<int>(content));
  Random random(11);
  const Image image({part.rows + 1, part.cols + 2}, tiles.channels, tiles.type);
  fill(image, tiles, content, random);
  const Rect rect{1, 1, part.rows, part.cols};
  const Stream stream;
  const DeviceImage on_device(image.view, stream.get());
  const EncodedStreams found = encode_on_gpu(on_device.view().crop(rect), tiles, stream);
  const EncodedStreams expected = encode_on_cpu(image.view.crop(rect), tiles);
  CHECK(found.entries == expected.entries);
  const auto different = std::ranges::mismatch(found.bytes, expected.bytes).in1 - found.bytes.begin();
  CHECK(different == std::ssize(expected.bytes));
}

/// Checks with the codec of `tiles`, and with zstd without and with checksums.
void check_coding(EncodedTiles tiles, Extent part, Content content) {
  check_one_coding(tiles, part, content);
  tiles.codec = BlockCodec::zstd;
  check_one_coding(tiles, part, content);
  tiles.has_checksum = true;
  check_one_coding(tiles, part, content);
}

constexpr Content kContents[] = {Content::noise,       Content::constant, Content::ramp,
                                 Content::differences, Content::mask,     Content::matches};

}  // namespace

TEST_CASE("tiles coded on a GPU have the bytes of the CPU's coder, whatever the pixels", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const PixelType type = GENERATE(from_range(std::begin(kPixelTypes), std::end(kPixelTypes)));
  const std::int64_t channels = GENERATE(1, 3);
  const int predictor = GENERATE(1, 2, 3);
  if (predictor == 3 && !is_floating(type)) return;
  const EncodedTiles tiles{.tile = {48, 80}, .channels = channels, .type = type, .predictor = predictor};
  for (const Content content : kContents) {
    check_coding(tiles, {96, 160}, content);
    check_coding(tiles, {50, 81}, content);  // edge tiles with two rows and with one column
  }
}

TEST_CASE("tiles of one byte, of one block and of several are coded on a GPU", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  // 65280 bytes are a block of deflate, 65536 a block of zstd. Rows of the last tile are longer than the
  // maximum match distance.
  const Extent tile = GENERATE(Extent{1, 1}, Extent{1, 15}, Extent{3, 21}, Extent{1, 64}, Extent{1, 65},
                               Extent{255, 256}, Extent{256, 256}, Extent{1, 65279}, Extent{1, 65281},
                               Extent{1, 65537}, Extent{257, 509}, Extent{3, 40000});
  const int predictor = GENERATE(1, 2);
  const EncodedTiles tiles{.tile = tile, .predictor = predictor};
  for (const Content content : kContents) check_coding(tiles, {tile.rows, 2 * tile.cols}, content);
}

TEST_CASE("strips are coded on a GPU, the last with fewer rows and blocks", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const std::int64_t rows = GENERATE(200, 250, 300, 1);
  const EncodedTiles strips{
      .tile = {100, 701}, .channels = 2, .type = PixelType::u16, .predictor = 2, .pads = false};
  for (const Content content : kContents) check_coding(strips, {rows, 701}, content);
}

TEST_CASE("tiles that go on with an element beyond the image are coded on a GPU, as gzip too", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const PixelType type = GENERATE(PixelType::u8, PixelType::u16, PixelType::f32, PixelType::f64);
  const BlockCodec codec = GENERATE(BlockCodec::zlib, BlockCodec::gzip);
  const Extent tile = GENERATE(Extent{1, 1}, Extent{48, 80}, Extent{64, 1001});
  const EncodedTiles tiles{
      .tile = tile, .channels = 3, .type = type, .codec = codec, .fill = 0x3FF0'1122'3344'5566};
  for (const Content content : kContents) {
    check_coding(tiles, {2 * tile.rows, 2 * tile.cols}, content);
    check_coding(tiles, {tile.rows + 1, tile.cols + 1}, content);
    check_coding(tiles, {ceil_div(tile.rows, 2), ceil_div(tile.cols, 3)}, content);
  }
}

TEST_CASE("more tiles are coded on a GPU than are placed at once, and pixels of many channels", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  check_coding({.tile = {16, 16}}, {16 * 50, 16 * 50 - 5}, Content::differences);
  check_coding({.tile = {32, 32}, .channels = 16, .type = PixelType::f64, .predictor = 3}, {40, 70},
               Content::matches);
}

TEST_CASE("a suite of tiles small enough for compute-sanitizer is coded on a GPU", "[gpu][sanitize]") {
  SEPCONV_NEEDS_GPU();
  check_coding({.tile = {40, 30}, .predictor = 2}, {60, 50}, Content::matches);
  check_coding({.tile = {1, 65281}}, {1, 65281}, Content::differences);  // two blocks of deflate
  check_coding({.tile = {10, 33}, .channels = 3, .type = PixelType::u16, .pads = false}, {15, 33},
               Content::mask);
}
