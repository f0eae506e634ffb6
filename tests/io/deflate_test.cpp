#include <libdeflate.h>
#include <zlib.h>

#include <catch2/catch.hpp>

#include "coded_bytes.hpp"
#include "io/deflate/deflater.hpp"
#include "io/deflate/prefix_code.hpp"

namespace sepconv::deflate {
namespace {

using namespace coded_bytes;

/// Decodes with zlib, which must consume the whole stream.
Bytes decode_by_zlib(const Bytes& stream, std::size_t size) {
  Bytes out(size + 1);
  uLongf decoded_bytes = out.size();
  uLong consumed = stream.size();
  CHECK(uncompress2(reinterpret_cast<Bytef*>(out.data()), &decoded_bytes,
                    reinterpret_cast<const Bytef*>(stream.data()), &consumed) == Z_OK);
  CHECK(consumed == stream.size());
  out.resize(decoded_bytes);
  return out;
}

Bytes decode_by_libdeflate(const Bytes& stream, std::size_t size) {
  Bytes out(size + 1);
  std::size_t decoded_bytes = 0;
  auto* const state = libdeflate_alloc_decompressor();
  CHECK(libdeflate_zlib_decompress(state, stream.data(), stream.size(), out.data(), out.size(),
                                   &decoded_bytes) == LIBDEFLATE_SUCCESS);
  libdeflate_free_decompressor(state);
  out.resize(decoded_bytes);
  return out;
}

template <class Coder>
Bytes encoded(Coder& coder, const Bytes& bytes, MatchDistances raster) {
  Bytes stream(static_cast<std::size_t>(Coder::max_bytes(std::ssize(bytes))));
  stream.resize(static_cast<std::size_t>(coder.encode(bytes, raster, stream)));
  return stream;
}

template <class Coder>
void check_round_trip(Coder& coder, const Bytes& bytes, MatchDistances raster) {
  CAPTURE(bytes.size(), raster.pixel_bytes, raster.row_bytes);
  const Bytes stream = encoded(coder, bytes, raster);
  const bool same =
      decode_by_zlib(stream, bytes.size()) == bytes && decode_by_libdeflate(stream, bytes.size()) == bytes;
  CHECK(same);
}

TEST_CASE("zlib and libdeflate decode every stream of the raster coder") {
  RasterCoder coder;
  for_many_bytes([&](const Bytes& bytes, MatchDistances raster) { check_round_trip(coder, bytes, raster); });
}

TEST_CASE("zlib and libdeflate decode streams of every level, and incompressible bytes are stored") {
  Random random(2);
  const int level = GENERATE(values<int>({kFast, kAutomatic, 1, 6, 9, kBestLevel}));
  CAPTURE(level);
  Deflater deflater(level);
  for (const std::size_t size : {std::size_t{0}, std::size_t{5}, std::size_t{4096}, std::size_t{100'000}}) {
    for (const double spread : {0.0, 0.4, 3.0})
      check_round_trip(deflater, noise(size, spread, random), {1, 256});
    Bytes random_bytes(size);
    for (std::byte& byte : random_bytes) byte = static_cast<std::byte>(random());
    check_round_trip(deflater, random_bytes, {1, 256});
    CHECK(encoded(deflater, random_bytes, {1, 256}).size() <= size + 6 * (size / 65280 + 1) + 6);
  }
}

/// A page in rows of 256 bytes that repeats 512 strings. Rows from `begin` to `end` are a photograph's noise.
Bytes page(int rows, int begin, int end, Random& random) {
  const Bytes strings = noise(8192, 3.0, random);
  Bytes bytes;
  for (int row = 0; row < rows; ++row) {
    const bool is_photo = row >= begin && row < end;
    const Bytes photo = noise(256, 3.0, random);
    for (int i = 0; i < 256; i += 16) {
      const auto* const from = is_photo ? photo.data() + i : strings.data() + random() % 512 * 16;
      bytes.insert(bytes.end(), from, from + 16);
    }
  }
  return bytes;
}

TEST_CASE("The encoder chosen for a block of text and photograph fits both parts") {
  Random random(5);
  const MatchDistances raster{1, 256};
  Deflater automatic(kAutomatic), level_6(6), fast(kFast);
  for (const auto& [begin, end] : {std::pair(896, 1152), std::pair(640, 1408), std::pair(0, 800)}) {
    CAPTURE(begin, end);
    const Bytes bytes = page(2048, begin, end, random);
    const auto size = static_cast<double>(encoded(automatic, bytes, raster).size());
    CHECK(size <= 1.03 * static_cast<double>(encoded(level_6, bytes, raster).size()));
    CHECK(size < 0.95 * static_cast<double>(encoded(fast, bytes, raster).size()));
  }
  const Bytes photo = page(2048, 0, 2048, random);
  CHECK(encoded(automatic, photo, raster) == encoded(fast, photo, raster));
}

TEST_CASE("The bytes of a stream do not depend on what the coder wrote before") {
  Random random(3);
  const MatchDistances raster{1, 256};
  Deflater used(kAutomatic);
  for (int i = 0; i < 5; ++i) encoded(used, mixture(70'000, raster, random), raster);
  for (const double spread : {0.1, 3.0}) {
    const Bytes bytes = noise(150'000, spread, random);
    Deflater fresh(kAutomatic);
    const bool same = encoded(used, bytes, raster) == encoded(fresh, bytes, raster);
    CHECK(same);
  }
}

TEST_CASE("Noise is coded without a match search, distant repeats with one") {
  Random random(4);
  const MatchDistances raster{1, 512};
  const Bytes photograph = noise(1 << 18, 4, random);
  Bytes tiled = noise(1 << 18, 40, random);
  for (std::size_t i = 5000; i < tiled.size(); ++i) tiled[i] = tiled[i - 5000];
  RasterCoder coder;
  Deflater automatic(kAutomatic), level_6(6);
  const bool equals_raster_coder =
      encoded(automatic, photograph, raster) == encoded(coder, photograph, raster);
  CHECK(equals_raster_coder);
  CHECK(encoded(coder, photograph, raster).size() < encoded(level_6, photograph, raster).size());
  CHECK(encoded(automatic, tiled, raster).size() <= 1.03 * encoded(level_6, tiled, raster).size());
  CHECK(encoded(coder, tiled, raster).size() > 2 * encoded(level_6, tiled, raster).size());
}

TEST_CASE("Repeats of the pixel before and of the row above need no search") {
  Random random(5);
  const MatchDistances raster{2, 512};
  Bytes bytes = noise(1 << 16, 40, random);
  for (std::size_t i = 512; i < bytes.size(); ++i)
    if (i % 4096 >= 512) bytes[i] = bytes[i - 512];
  RasterCoder coder;
  CHECK(encoded(coder, bytes, raster).size() < bytes.size() / 6);
  CHECK(encoded(coder, Bytes(1 << 20), raster).size() < 8000);
}

TEST_CASE("Lengths of codes are complete, within their limit, and no worse than Huffman's where it fits") {
  Random random(6);
  for (const int symbols : {1, 2, 3, 19, 30, 286}) {
    for (const int max_bits : {9, 14, 15}) {
      for (int kind = 0; kind < 3; ++kind) {
        CAPTURE(symbols, max_bits, kind);
        std::vector<std::uint32_t> counts(static_cast<std::size_t>(symbols));
        std::uint32_t fibonacci[2] = {1, 1};
        for (std::uint32_t& count : counts) {
          count = kind == 0 ? static_cast<std::uint32_t>(random() % 50) : kind == 1 ? fibonacci[0] : 7;
          if (kind == 1 && fibonacci[1] < 100'000)
            fibonacci[0] = std::exchange(fibonacci[1], fibonacci[0] + fibonacci[1]);
        }
        counts[0] = std::max(counts[0], 1U);
        std::vector<std::uint8_t> lengths(counts.size());
        choose_lengths(counts, max_bits, lengths);
        double kraft = 0, bits = 0, entropy = 0, total = 0;
        for (const std::uint32_t count : counts) total += count;
        for (std::size_t i = 0; i < counts.size(); ++i) {
          CHECK((lengths[i] > 0) == (counts[i] > 0));
          CHECK(lengths[i] <= max_bits);
          if (lengths[i] == 0) continue;
          kraft += std::exp2(-lengths[i]);
          bits += counts[i] * lengths[i];
          entropy += counts[i] * std::log2(total / counts[i]);
        }
        CHECK(kraft == (std::ranges::count(counts, 0U) == symbols - 1 ? 0.5 : 1.0));
        CHECK(bits <= std::max(total, entropy * 1.02 + total));
      }
    }
  }
}

}  // namespace
}  // namespace sepconv::deflate
