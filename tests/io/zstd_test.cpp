#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "io/zstd/zstd_coder.hpp"

namespace sepconv {
namespace {

using Bytes = std::vector<std::byte>;

/// What a predictor leaves: small differences.
Bytes differences(std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::binomial_distribution<int> magnitude(12);
  Bytes bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(magnitude(random) - 6);
  return bytes;
}

Bytes encoded(ZstdEncoder& encoder, const Bytes& bytes) {
  Bytes frame(ZSTD_compressBound(bytes.size()));
  frame.resize(static_cast<std::size_t>(encoder.encode(bytes, frame)));
  return frame;
}

constexpr std::byte kPoison{0xA5};

bool decodes_to(const Bytes& frame, const Bytes& bytes) {
  ZstdDecoder decoder;
  Bytes out(bytes.size() + 64, kPoison);
  const bool whole = decoder.decode(frame, std::span(out).first(bytes.size()));
  CHECK(std::count(out.end() - 64, out.end(), kPoison) == 64);
  out.resize(bytes.size());
  return whole && out == bytes;
}

TEST_CASE("Frames of zstd hold the bytes of every level, and depend on what was encoded before in nothing") {
  const int level = GENERATE(values<int>({1, 2, 9, 19}));
  ZstdEncoder used(level);
  for (const std::size_t size : {0, 1, 100, 4096, 70'000, 300'000}) {
    CAPTURE(level, size);
    const Bytes bytes = differences(size, 1);
    ZstdEncoder fresh(level);
    const Bytes frame = encoded(used, bytes);
    const bool same = frame == encoded(fresh, bytes), whole = decodes_to(frame, bytes);
    CHECK(same);
    CHECK(whole);
    CHECK(ZSTD_getFrameContentSize(frame.data(), frame.size()) == size);
  }
}

TEST_CASE("Level 1 is not larger than zstd's own by more than 3 %, with strings or without") {
  Bytes bytes = differences(1 << 18, 2);
  for (const bool strings : {false, true}) {
    if (strings)
      for (std::size_t i = 3000; i < bytes.size(); ++i)
        if (i % 64 < 30) bytes[i] = bytes[i - 2999];
    ZstdEncoder encoder(1);
    Bytes own(ZSTD_compressBound(bytes.size()));
    const std::size_t usual = ZSTD_compress(own.data(), own.size(), bytes.data(), bytes.size(), 1);
    CHECK(static_cast<double>(encoded(encoder, bytes).size()) <= 1.03 * static_cast<double>(usual));
  }
}

TEST_CASE("Frames of another size, cut off or with something behind are not whole; several in a row are") {
  ZstdEncoder encoder(1);
  const Bytes bytes = differences(5000, 3);
  const Bytes frame = encoded(encoder, bytes);
  for (std::size_t cut = 0; cut < frame.size(); ++cut)
    CHECK_FALSE(decodes_to(Bytes(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(cut)), bytes));
  CHECK_FALSE(decodes_to(frame, Bytes(4999)));
  CHECK_FALSE(decodes_to(frame, Bytes(5001)));
  Bytes longer = frame, twice = frame, both = bytes;
  longer.push_back(std::byte{1});
  CHECK_FALSE(decodes_to(longer, bytes));
  twice.insert(twice.end(), frame.begin(), frame.end());
  both.insert(both.end(), bytes.begin(), bytes.end());
  CHECK(decodes_to(twice, both));
}

TEST_CASE("an encoder of zstd holds no more than is planned, and not the level's whole window") {
  const int level = GENERATE(1, 2, 3, 5, 9, 13, 16, 19, 22);
  const std::int64_t bytes = GENERATE(100, 4096, 65536, 512 * 512, 1 << 20);
  std::vector<std::byte> in(static_cast<std::size_t>(bytes)), out(ZSTD_compressBound(in.size()));
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::byte>(i * i >> 7);
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(), ZSTD_freeCCtx);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, level);
  if (level <= 2) ZSTD_CCtx_setParameter(context.get(), ZSTD_c_hashLog, level == 1 ? 14 : 16);
  CAPTURE(level, bytes);
  REQUIRE(ZSTD_isError(ZSTD_compress2(context.get(), out.data(), out.size(), in.data(), in.size())) == 0);
  const std::int64_t planned = ZstdEncoder::memory_bytes(level, bytes);
  CHECK(static_cast<std::int64_t>(ZSTD_sizeof_CCtx(context.get())) <= planned);
  CHECK(planned < (std::int64_t{4} << 20) + 16 * bytes);
}

TEST_CASE("Of frames the first is read where it fits and its checksum holds, whatever follows") {
  ZstdEncoder encoder(1);
  const Bytes bytes = differences(100'000, 4), frame = encoded(encoder, bytes);
  ZstdDecoder decoder;
  Bytes room(bytes.size() + 10, kPoison);
  const auto first_of = [&](std::span<const std::byte> frames) {
    std::ranges::fill(room, kPoison);
    return decoder.decode_first_frame(frames, room);
  };
  Bytes longer = frame, twice = frame;
  longer.push_back(std::byte{1});
  twice.insert(twice.end(), frame.begin(), frame.end());
  for (const Bytes& frames : {frame, longer, twice}) {
    CHECK(first_of(frames) == std::ssize(bytes));
    CHECK(std::equal(bytes.begin(), bytes.end(), room.begin()));
  }
  CHECK(decoder.decode_first_frame(frame, std::span(room).first(bytes.size() - 1)) == std::ssize(bytes));
  CHECK(decoder.decode_first_frame(frame, std::span(room).first(1000)) == 1001);
  for (std::size_t cut = 1; cut < 200; ++cut)
    CHECK_FALSE(first_of(std::span(frame).first(frame.size() - cut)));
  for (std::size_t bit = 0; bit < 32; ++bit) {
    Bytes wrong = frame;
    wrong[frame.size() - 4 + bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
    CHECK_FALSE(first_of(wrong));
  }
}

}  // namespace
}  // namespace sepconv
