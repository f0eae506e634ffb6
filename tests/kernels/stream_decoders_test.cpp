// The GPU's decoders on one thread, in buffers of exactly the needed size, so that sanitizers detect
// out-of-bounds accesses. Also the checksums of gzip (by many threads) and of zstd.
#include <zlib.h>
#include <zstd.h>

#include <catch2/catch.hpp>
#include <memory>
#include <vector>

#include "kernels/deflate/crc32.hpp"
#include "kernels/lz4/block_decoder.hpp"
#include "kernels/zstd/frame_decoder.hpp"
#include "random_image.hpp"

namespace sepconv {
namespace {

using Bytes = std::vector<std::byte>;

std::unique_ptr<std::byte[]> copy_of(const Bytes& bytes) {
  auto copy = std::make_unique<std::byte[]>(bytes.size());
  std::ranges::copy(bytes, copy.get());
  return copy;
}

/// The decoded bytes; empty if the decoder rejects the frame.
Bytes decode_frame(const Bytes& frame, std::size_t size) {
  const auto in = copy_of(frame);
  Bytes out(size), literals(std::min<std::size_t>(size, zstd::kMaxBlockBytes));
  out.shrink_to_fit(), literals.shrink_to_fit();
  zstd::Tables tables;
  zstd::FrameDecoder<SingleThreadGroup> decoder(in.get(), std::ssize(frame), out.data(), std::ssize(out),
                                                literals.data(), tables);
  return decoder.run() ? out : Bytes();
}

Bytes frame_of(const Bytes& bytes, int level, bool has_checksum) {
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(), ZSTD_freeCCtx);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, has_checksum ? 1 : 0);
  Bytes frame(ZSTD_compressBound(bytes.size()));
  frame.resize(ZSTD_compress2(context.get(), frame.data(), frame.size(), bytes.data(), bytes.size()));
  return frame;
}

Bytes mixture(Random& random, std::size_t size) {
  Bytes bytes(size);
  const auto spread = static_cast<unsigned>(random_between(random, 1, 60));
  for (std::size_t i = 0; i < size; ++i) {
    const auto back = static_cast<std::size_t>(random_between(random, 1, 300));
    bytes[i] = back <= i && random() % 8 != 0 ? bytes[i - back / 60 * 60]
                                              : static_cast<std::byte>(random() % spread + random() % spread);
  }
  return bytes;
}

}  // namespace

TEST_CASE("Frames of zstd are decoded as libzstd does it, and damaged ones touch nothing else") {
  Random random(31);
  int accepted = 0, refused = 0;
  for (int i = 0; i < 1500; ++i) {
    const auto size = static_cast<std::size_t>(random_between(random, 1, i % 100 == 0 ? 300'000 : 2000));
    const Bytes bytes = mixture(random, size);
    Bytes frame = frame_of(bytes, static_cast<int>(random_between(random, -3, 19)), i % 2 == 0);
    REQUIRE(decode_frame(frame, size) == bytes);
    if (random() % 5 == 0) frame.resize(random() % frame.size());
    for (std::uint64_t flips = random() % 4; flips > 0 && !frame.empty(); --flips)
      frame[random() % frame.size()] ^= static_cast<std::byte>(1U << random() % 8);
    const Bytes found = decode_frame(frame, size);
    ++(found.empty() ? refused : accepted);
    if (found.empty()) continue;
    Bytes expected(size);
    REQUIRE(ZSTD_decompress(expected.data(), size, frame.data(), frame.size()) == size);
    REQUIRE(found == expected);
  }
  CHECK(accepted > 100);
  CHECK(refused > 100);
}

TEST_CASE("No flipped bit of a frame of zstd with a checksum makes other bytes") {
  Random random(34);
  int accepted = 0;
  for (const std::size_t size : {1, 31, 33, 700}) {
    const Bytes bytes = mixture(random, size);
    Bytes frame = frame_of(bytes, 1, true);
    for (std::size_t bit = 0; bit < 8 * frame.size(); ++bit) {
      const auto flipped = static_cast<std::byte>(1U << bit % 8);
      frame[bit / 8] ^= flipped;
      const Bytes found = decode_frame(frame, size);
      accepted += found.empty() ? 0 : 1;
      CHECK((found.empty() || found == bytes));
      frame[bit / 8] ^= flipped;
    }
  }
  CHECK(accepted < 40);  // bits of the window descriptor, and bits that decoders ignore
}

TEST_CASE("The checksum of zstd is libzstd's, by one thread and by a group of four lanes") {
  Random random(35);
  for (std::size_t size = 0; size < 300; ++size) {
    const Bytes bytes = mixture(random, size + (size % 50 == 0 ? 100'000 : 0));
    const Bytes frame = frame_of(bytes, 1, true);
    const auto* const content = reinterpret_cast<const std::uint8_t*>(bytes.data());
    const std::uint32_t stored =
        zstd::little(reinterpret_cast<const std::uint8_t*>(frame.data()) + frame.size() - 4, 4);
    // The sums of four lanes, computed one after another.
    std::uint64_t sums[zstd::kSums];
    for (unsigned lane = 0; lane < zstd::kSums; ++lane) {
      std::uint64_t lane_sum[1];
      zstd::sum_stripes(content, bytes.size(), lane, lane_sum);
      sums[lane] = lane_sum[0];
    }
    CAPTURE(bytes.size());
    CHECK(zstd::checksum_of(bytes) == stored);
    CHECK(zstd::checksum_of(SingleThreadGroup(), content, bytes.size()) == stored);
    CHECK(zstd::finish_sums(sums, content, bytes.size()) == stored);
  }
}

TEST_CASE("Blocks of LZ4 that are anything touch nothing but their own bytes") {
  Random random(32);
  int accepted = 0;
  for (int i = 0; i < 20'000; ++i) {
    Bytes block(static_cast<std::size_t>(random_between(random, 0, 40)));
    for (std::byte& byte : block) byte = static_cast<std::byte>(random() % 4 == 0 ? random() : random() % 20);
    const auto size = static_cast<std::size_t>(random_between(random, 1, 30));
    if (block.size() > 4) block[0] = static_cast<std::byte>(size), block[1] = block[2] = block[3] = {};
    const auto in = copy_of(block);
    Bytes out(size);
    out.shrink_to_fit();
    accepted +=
        lz4::BlockDecoder<SingleThreadGroup>(in.get(), std::ssize(block), out.data(), std::ssize(out)).run()
            ? 1
            : 0;
  }
  CHECK(accepted > 10);
}

TEST_CASE("CRC-32 by many threads is zlib's") {
  Random random(33);
  for (const std::int64_t size : {1, 2, 3, 4, 5, 1023, 1024, 1025, 70'001}) {
    Bytes bytes(static_cast<std::size_t>(size));
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
    const auto* const message = reinterpret_cast<const std::uint8_t*>(bytes.data());
    for (const std::int64_t threads : {1, 3, 256}) {
      static crc32::Products products;
      const std::uint32_t step = crc32::power(static_cast<std::uint64_t>(32 * threads));
      for (unsigned byte_index = 0; byte_index < 4; ++byte_index)
        for (std::uint32_t byte = 0; byte < 256; ++byte)
          products[byte_index][byte] = crc32::multiply(byte << 8 * byte_index, step);
      std::uint32_t sum = 0;
      for (std::int64_t i = 0; i < threads; ++i) sum ^= crc32::part(message, size, i, threads, products);
      CAPTURE(size, threads);
      CHECK(crc32::whole(sum, size) == ::crc32(0, message, static_cast<uInt>(size)));
    }
  }
}

}  // namespace sepconv
