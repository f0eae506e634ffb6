#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "io/zstd/zstd_coder.hpp"

namespace sepconv {
namespace {

using Bytes = std::vector<std::byte>;

/// Small differences, like a predictor's residuals.
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

TEST_CASE("zstd frames of every level round-trip and do not depend on earlier frames") {
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

TEST_CASE("Level 1 is at most 3 % larger than libzstd's, with and without matches") {
  Bytes bytes = differences(1 << 18, 2);
  for (const bool strings : {false, true}) {
    if (strings)
      for (std::size_t i = 3000; i < bytes.size(); ++i)
        if (i % 64 < 30) bytes[i] = bytes[i - 2999];
    ZstdEncoder encoder(1);
    Bytes library_frame(ZSTD_compressBound(bytes.size()));
    const std::size_t library_size =
        ZSTD_compress(library_frame.data(), library_frame.size(), bytes.data(), bytes.size(), 1);
    CHECK(static_cast<double>(encoded(encoder, bytes).size()) <= 1.03 * static_cast<double>(library_size));
  }
}

TEST_CASE(
    "Frames of another size, truncated or with trailing bytes are refused; consecutive frames are accepted") {
  ZstdEncoder encoder(1);
  const Bytes bytes = differences(5000, 3);
  const Bytes frame = encoded(encoder, bytes);
  for (std::size_t cut = 0; cut < frame.size(); ++cut)
    CHECK_FALSE(decodes_to(Bytes(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(cut)), bytes));
  CHECK_FALSE(decodes_to(frame, Bytes(4999)));
  CHECK_FALSE(decodes_to(frame, Bytes(5001)));
  Bytes longer = frame, two_frames = frame, two_contents = bytes;
  longer.push_back(std::byte{1});
  CHECK_FALSE(decodes_to(longer, bytes));
  two_frames.insert(two_frames.end(), frame.begin(), frame.end());
  two_contents.insert(two_contents.end(), bytes.begin(), bytes.end());
  CHECK(decodes_to(two_frames, two_contents));
}

TEST_CASE("a zstd encoder uses no more memory than planned, and less than the level's full window") {
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

TEST_CASE("The first frame is decoded if it fits and its checksum matches, regardless of trailing bytes") {
  ZstdEncoder encoder(1);
  const Bytes bytes = differences(100'000, 4), frame = encoded(encoder, bytes);
  ZstdDecoder decoder;
  Bytes out_buffer(bytes.size() + 10, kPoison);
  const auto first_of = [&](std::span<const std::byte> frames) {
    std::ranges::fill(out_buffer, kPoison);
    return decoder.decode_first_frame(frames, out_buffer);
  };
  Bytes longer = frame, two_frames = frame;
  longer.push_back(std::byte{1});
  two_frames.insert(two_frames.end(), frame.begin(), frame.end());
  for (const Bytes& frames : {frame, longer, two_frames}) {
    CHECK(first_of(frames) == std::ssize(bytes));
    CHECK(std::equal(bytes.begin(), bytes.end(), out_buffer.begin()));
  }
  CHECK(decoder.decode_first_frame(frame, std::span(out_buffer).first(bytes.size() - 1)) ==
        std::ssize(bytes));
  CHECK(decoder.decode_first_frame(frame, std::span(out_buffer).first(1000)) == 1001);
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
