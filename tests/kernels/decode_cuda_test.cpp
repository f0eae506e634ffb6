// zstd, gzip and LZ4 blocks, intact and damaged, decoded on a GPU: every accepted block has the libraries'
// result.
#include <libdeflate.h>
#include <lz4.h>
#include <zstd.h>

#include <catch2/catch.hpp>
#include <memory>
#include <vector>

#include "decode_tiles_case.hpp"

using namespace sepconv;
using namespace sepconv::test;

namespace {

/// Settings of an encoder.
struct EncoderSettings {
  int level = 1;
  bool has_checksum = false, has_content_size = true;  // zstd only: frame checksum and content size
  int window_log = 0;
};

Bytes zstd_of(const Bytes& bytes, const EncoderSettings& settings) {
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(), ZSTD_freeCCtx);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, settings.level);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, settings.has_checksum ? 1 : 0);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_contentSizeFlag, settings.has_content_size ? 1 : 0);
  if (settings.window_log > 0) ZSTD_CCtx_setParameter(context.get(), ZSTD_c_windowLog, settings.window_log);
  Bytes frame(ZSTD_compressBound(bytes.size()));
  frame.resize(ZSTD_compress2(context.get(), frame.data(), frame.size(), bytes.data(), bytes.size()));
  return frame;
}

Bytes gzip_of(const Bytes& bytes, const EncoderSettings& settings) {
  const std::unique_ptr<libdeflate_compressor, decltype(&libdeflate_free_compressor)> encoder(
      libdeflate_alloc_compressor(settings.level), libdeflate_free_compressor);
  Bytes member(libdeflate_gzip_compress_bound(encoder.get(), bytes.size()));
  member.resize(
      libdeflate_gzip_compress(encoder.get(), bytes.data(), bytes.size(), member.data(), member.size()));
  return member;
}

Bytes lz4_of(const Bytes& bytes, const EncoderSettings& settings) {
  Bytes block(4 + static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(bytes.size()))));
  for (std::size_t i = 0; i < 4; ++i) block[i] = static_cast<std::byte>(bytes.size() >> 8 * i);
  const int size = LZ4_compress_fast(
      reinterpret_cast<const char*>(bytes.data()), reinterpret_cast<char*>(block.data() + 4),
      static_cast<int>(bytes.size()), static_cast<int>(block.size()) - 4, settings.level);
  block.resize(4 + static_cast<std::size_t>(size));
  return block;
}

Bytes encoded(BlockCodec codec, const Bytes& bytes, const EncoderSettings& settings) {
  return codec == BlockCodec::zstd   ? zstd_of(bytes, settings)
         : codec == BlockCodec::gzip ? gzip_of(bytes, settings)
                                     : lz4_of(bytes, settings);
}

/// The library's result; empty if the block is invalid or does not decode to exactly `size` bytes.
Bytes decode_by_library(BlockCodec codec, const Bytes& block, std::size_t size) {
  Bytes out(size);
  if (codec == BlockCodec::zstd) {
    return ZSTD_decompress(out.data(), size, block.data(), block.size()) == size ? out : Bytes();
  }
  if (codec == BlockCodec::gzip) {
    const std::unique_ptr<libdeflate_decompressor, decltype(&libdeflate_free_decompressor)> decoder(
        libdeflate_alloc_decompressor(), libdeflate_free_decompressor);
    std::size_t read = 0;
    const auto result = libdeflate_gzip_decompress_ex(decoder.get(), block.data(), block.size(), out.data(),
                                                      size, &read, nullptr);
    return result == LIBDEFLATE_SUCCESS && read == block.size() ? out : Bytes();
  }
  std::size_t header_size = 0;
  for (std::size_t i = 0; i < 4 && block.size() > 4; ++i)
    header_size |= static_cast<std::size_t>(block[i]) << 8 * i;
  const bool good = header_size == size &&
                    LZ4_decompress_safe(
                        reinterpret_cast<const char*>(block.data() + 4), reinterpret_cast<char*>(out.data()),
                        static_cast<int>(block.size() - 4), static_cast<int>(size)) == static_cast<int>(size);
  return good ? out : Bytes();
}

/// Settings that produce different kinds of blocks of each codec.
std::vector<EncoderSettings> settings_of(BlockCodec codec) {
  if (codec == BlockCodec::zstd)
    return {{-5}, {1, true}, {3, false, false}, {9, true, true, 10}, {19, true, false, 12}, {22}};
  return {{1}, {codec == BlockCodec::gzip ? 6 : 4}, {codec == BlockCodec::gzip ? 12 : 50}};
}

/// Bytes like those of an image: content() in one of three cases, else small values as after a predictor.
Bytes image_content(Random& random, std::size_t size) {
  Bytes bytes = content(random, size);
  if (random() % 3 == 0) return bytes;
  const auto spread = static_cast<unsigned>(random_between(random, 1, 12));
  for (std::byte& byte : bytes)
    byte = static_cast<std::byte>(random() % spread + random() % spread + random() % spread);
  return bytes;
}

}  // namespace

TEST_CASE("A GPU decodes blocks of zstd, gzip and LZ4 of every kind", "[gpu][sanitize]") {
  SEPCONV_NEEDS_GPU();
  Random random(21);
  const BlockCodec codec = GENERATE(BlockCodec::zstd, BlockCodec::gzip, BlockCodec::lz4);
  for (const Extent tile :
       {Extent{1, 1}, Extent{1, 7}, Extent{16, 16}, Extent{100, 41}, Extent{256, 300}, Extent{500, 601}}) {
    const EncodedTiles tiles{.tile = tile, .codec = codec};
    std::vector<Bytes> contents, blocks;
    for (int round = 0; round < 8; ++round) {
      for (const EncoderSettings& settings : settings_of(codec)) {
        contents.push_back(image_content(random, static_cast<std::size_t>(tiles.bytes())));
        blocks.push_back(encoded(codec, contents.back(), settings));
      }
    }
    const Decoded decoded = by_gpu(blocks, tiles);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      CAPTURE(static_cast<int>(codec), tile.rows, tile.cols, i);
      CHECK(decoded.refused[i] == 0);
      CHECK(is_tile(decoded, i, tiles, contents[i]));
    }
  }
}

TEST_CASE("What a GPU takes of damaged blocks is what the libraries make of them", "[gpu][sanitize]") {
  SEPCONV_NEEDS_GPU();
  Random random(22);
  const BlockCodec codec = GENERATE(BlockCodec::zstd, BlockCodec::gzip, BlockCodec::lz4);
  const EncodedTiles tiles{.tile = {30, 50}, .codec = codec};
  const auto size = static_cast<std::size_t>(tiles.bytes());
  const std::vector<EncoderSettings> settings = settings_of(codec);
  std::vector<Bytes> blocks;
  for (int i = 0; i < 900; ++i) {
    const std::size_t content_size = random() % 8 == 0 ? size + random() % 3 - 1 : size;
    blocks.push_back(damaged(
        encoded(codec, image_content(random, content_size), settings[random() % settings.size()]), random));
  }
  const Decoded decoded = by_gpu(blocks, tiles);
  int accepted = 0, refused = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    CAPTURE(static_cast<int>(codec), i);
    if (decoded.refused[i] != 0) {
      ++refused;
      continue;
    }
    ++accepted;
    const Bytes expected = decode_by_library(codec, blocks[i], size);
    REQUIRE(expected.size() == size);
    CHECK(is_tile(decoded, i, tiles, expected));
  }
  CHECK(accepted > 100);
  CHECK(refused > 100);
}

TEST_CASE("Blocks that a GPU leaves to the CPU: wrong checksums, several frames, members and names",
          "[gpu]") {
  SEPCONV_NEEDS_GPU();
  Random random(23);
  const EncodedTiles zstd{.tile = {20, 40}, .codec = BlockCodec::zstd};
  EncodedTiles gzip = zstd;
  gzip.codec = BlockCodec::gzip;
  const Bytes all = image_content(random, 800);
  const Bytes first(all.begin(), all.begin() + 300), second(all.begin() + 300, all.end());
  const auto concatenated = [](Bytes one, const Bytes& other) {
    one.insert(one.end(), other.begin(), other.end());
    return one;
  };
  const Bytes skippable = {std::byte{0x50}, std::byte{0x2A}, std::byte{0x4D}, std::byte{0x18}, std::byte{1},
                           std::byte{0},    std::byte{0},    std::byte{0},    std::byte{9}};
  const Bytes frame = zstd_of(all, {});
  Bytes wrong = zstd_of(all, {.has_checksum = true});
  wrong.back() ^= std::byte{1};
  const Decoded frames = by_gpu({wrong,
                                 concatenated(zstd_of(first, {}), zstd_of(second, {})),
                                 concatenated(frame, skippable),
                                 concatenated(skippable, frame),
                                 {},
                                 frame},
                                zstd);
  CHECK(frames.refused == std::vector<std::int32_t>{1, 1, 1, 1, 1, 0});
  Bytes named = gzip_of(all, {});
  named[3] = std::byte{8};
  named.insert(named.begin() + 10, {std::byte{'a'}, std::byte{0}});
  REQUIRE(decode_by_library(BlockCodec::gzip, named, all.size()) == all);
  const Decoded members =
      by_gpu({named, concatenated(gzip_of(first, {}), gzip_of(second, {})), gzip_of(all, {})}, gzip);
  CHECK(members.refused == std::vector<std::int32_t>{1, 1, 0});
}
