// zstd without a match search: the raster coder's output, decoded by libzstd and by the GPU's decoder.
#include <zstd.h>

#include <catch2/catch.hpp>
#include <memory>

#include "../support/forced_target.hpp"
#include "coded_bytes.hpp"
#include "io/zstd/raster_coder.hpp"
#include "kernels/zstd/frame_decoder.hpp"

namespace sepconv::zstd {
namespace {

using namespace coded_bytes;

constexpr std::byte kPoison{0xA5};

Bytes encoded(RasterCoder& coder, const Bytes& bytes, MatchDistances raster, bool has_checksum = true) {
  const auto capacity = static_cast<std::size_t>(RasterCoder::max_bytes(std::ssize(bytes)));
  Bytes frame(capacity + 64, kPoison);
  frame.resize(
      static_cast<std::size_t>(coder.encode(bytes, raster, has_checksum, std::span(frame).first(capacity))));
  REQUIRE(frame.size() <= capacity);
  return frame;
}

/// Decodes in one call, and in parts as a streaming decoder would.
bool libzstd_decodes(const Bytes& frame, const Bytes& bytes) {
  Bytes out(bytes.size() + 1);
  if (ZSTD_getFrameContentSize(frame.data(), frame.size()) != bytes.size()) return false;
  if (ZSTD_decompress(out.data(), out.size(), frame.data(), frame.size()) != bytes.size()) return false;
  out.resize(bytes.size());
  if (out != bytes) return false;
  const std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream(ZSTD_createDStream(),
                                                                          ZSTD_freeDStream);
  Bytes streamed(bytes.size() + 1);
  ZSTD_outBuffer to{streamed.data(), streamed.size(), 0};
  std::size_t remaining = 1;
  for (std::size_t at = 0; at < frame.size(); at += 1000) {
    ZSTD_inBuffer input_part{frame.data() + at, std::min<std::size_t>(1000, frame.size() - at), 0};
    while (input_part.pos < input_part.size) {
      remaining = ZSTD_decompressStream(stream.get(), &to, &input_part);
      if (ZSTD_isError(remaining) != 0) return false;
    }
  }
  streamed.resize(to.pos);
  return remaining == 0 && streamed == bytes;
}

bool gpu_decodes(const Bytes& frame, const Bytes& bytes) {
  Bytes out(bytes.size()), literals(std::min<std::size_t>(bytes.size(), kMaxBlockBytes));
  const auto tables = std::make_unique<Tables>();
  return FrameDecoder<SingleThreadGroup>(frame.data(), std::ssize(frame), out.data(), std::ssize(out),
                                         literals.data(), *tables)
             .run() &&
         out == bytes;
}

void check_round_trip(RasterCoder& coder, const Bytes& bytes, MatchDistances raster) {
  CAPTURE(bytes.size(), raster.pixel_bytes, raster.row_bytes);
  const Bytes frame = encoded(coder, bytes, raster), unchecked = encoded(coder, bytes, raster, false);
  CHECK(frame.size() == unchecked.size() + 4);
  CHECK((libzstd_decodes(unchecked, bytes) && gpu_decodes(unchecked, bytes)));
  const bool by_library = libzstd_decodes(frame, bytes), by_gpu = gpu_decodes(frame, bytes);
  CHECK(by_library);
  CHECK(by_gpu);
}

TEST_CASE("libzstd decodes every frame of the raster coder") {
  RasterCoder coder;
  for_many_bytes([&](const Bytes& bytes, MatchDistances raster) { check_round_trip(coder, bytes, raster); });
}

TEST_CASE("Literal codes of few values, and of all values with few lengths, are written validly") {
  RasterCoder coder;
  Random random(2);
  // The set of values, and the extra frequency of the first one.
  for (const int values : {2, 3, 4, 64, 127, 128, 129, 192, 193, 255, 256}) {
    for (const int first : {0, 1, 127, 255}) {
      for (const std::uint32_t extra_count : {0U, 50U, 1000U}) {
        CAPTURE(values, first, extra_count);
        Bytes bytes;
        for (int i = 0; i < values; ++i)
          bytes.insert(bytes.end(), 40 + (i == 0 ? extra_count * static_cast<std::uint32_t>(values) / 4 : 0),
                       static_cast<std::byte>(first + i * (values < 64 ? 85 : 1)));
        std::shuffle(bytes.begin(), bytes.end(), random);
        check_round_trip(coder, bytes, {1, 100});
      }
    }
  }
  for (int i = 0; i < 300; ++i) {
    Bytes bytes(64 + random() % 3000);
    const std::uint64_t value_count = 1 + random() % 256, skew = 1 + random() % 40;
    for (std::byte& byte : bytes)
      byte = static_cast<std::byte>(random() % (random() % skew == 0 ? value_count : 1 + value_count / skew) *
                                    37);
    check_round_trip(coder, bytes, {1 + static_cast<std::int64_t>(random() % 4), 64});
  }
}

TEST_CASE("A frame's bytes depend on the block alone: not on what came before, not on the instruction set") {
  Random random(3);
  const MatchDistances raster{2, 512};
  RasterCoder used;
  for (int i = 0; i < 5; ++i) encoded(used, mixture(70'000, raster, random), raster);
  for (const double spread : {0.1, 3.0, 60.0}) {
    Bytes bytes = noise(100'003, spread, random);
    const Bytes extra_count = mixture(50'000, raster, random);
    bytes.insert(bytes.end(), extra_count.begin(), extra_count.end());
    RasterCoder fresh;
    const Bytes frame = encoded(fresh, bytes, raster);
    for (const std::string& target : simd_targets()) {
      CAPTURE(spread, target);
      const ForcedTarget forced(target);
      const bool same = encoded(used, bytes, raster) == frame;
      CHECK(same);
    }
  }
}

TEST_CASE("Repeats of the pixel before and of the row above are sequences, and noise is stored") {
  Random random(4);
  const MatchDistances raster{2, 512};
  Bytes bytes = noise(1 << 17, 40, random);
  for (std::size_t i = 512; i < bytes.size(); ++i)
    if (i % 4096 >= 512) bytes[i] = bytes[i - 512];
  RasterCoder coder;
  CHECK(encoded(coder, bytes, raster).size() < bytes.size() / 6);
  CHECK(encoded(coder, Bytes(1 << 20), raster).size() == 10 + 16 * 8 + 4);
  Bytes random_bytes(200'000);
  for (std::byte& byte : random_bytes) byte = static_cast<std::byte>(random());
  CHECK(encoded(coder, random_bytes, raster).size() == 10 + random_bytes.size() + 4 * 3 + 4);
}

}  // namespace
}  // namespace sepconv::zstd
