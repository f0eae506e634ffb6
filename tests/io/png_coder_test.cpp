#include "io/png/png_coder.hpp"

#include <zlib.h>

#include <catch2/catch.hpp>
#include <random>
#include <string>

#include "io/deflate/deflater.hpp"

namespace sepconv {
namespace {

using Bytes = std::vector<std::byte>;
constexpr deflate::MatchDistances kRaster{3, 1001};
constexpr std::int64_t kPartBytes = 100 * 1001;

/// One of 16 random strings after another: compressible by a match search, not by a predictor.
Bytes random_strings(std::size_t size, unsigned seed) {
  std::mt19937 random(seed), string_bytes;
  Bytes bytes;
  while (bytes.size() < size) {
    string_bytes.seed(random() % 16);
    for (std::size_t i = 0; i < 60; ++i) bytes.push_back(static_cast<std::byte>(string_bytes() >> 8 & 15));
  }
  bytes.resize(size);
  return bytes;
}

Bytes noise(std::size_t size, unsigned seed, unsigned values) {
  std::mt19937 random(seed);
  Bytes bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() % values);
  return bytes;
}

Bytes coded(int level, const std::vector<Bytes>& parts) {
  PngCoder coder(level, kPartBytes);
  Bytes stream;
  for (const Bytes& part : parts) {
    const std::span<const std::byte> bytes = coder.code(part, kRaster, &part == &parts.back());
    stream.insert(stream.end(), bytes.begin(), bytes.end());
  }
  return stream;
}

/// Decodes with zlib, which checks the checksum of the whole stream.
Bytes inflated(const Bytes& stream, std::size_t size) {
  Bytes out(size + 1);
  uLongf length = out.size();
  REQUIRE(uncompress(reinterpret_cast<Bytef*>(out.data()), &length,
                     reinterpret_cast<const Bytef*>(stream.data()), stream.size()) == Z_OK);
  out.resize(length);
  return out;
}

Bytes concatenated(const std::vector<Bytes>& parts) {
  Bytes all;
  for (const Bytes& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

TEST_CASE("the parts of a PNG's stream form one zlib stream, whichever encoder wrote each") {
  constexpr std::size_t kFullPart = kPartBytes;
  const std::vector<std::vector<Bytes>> images = {
      {random_strings(kFullPart, 1), noise(kFullPart, 2, 256), random_strings(kFullPart, 3),
       noise(kFullPart, 4, 5), random_strings(31, 5)},
      {noise(kFullPart, 6, 3), random_strings(kFullPart, 7), random_strings(kFullPart, 8)},
      {Bytes(kFullPart), noise(1, 9, 256)},
      {random_strings(7, 10)},
  };
  for (const int level : {deflate::kFast, deflate::kAutomatic, 1, 6, kMaxPngLevel}) {
    for (const std::vector<Bytes>& parts : images) {
      CAPTURE(level, parts.size());
      const Bytes all = concatenated(parts), stream = coded(level, parts);
      const bool same = inflated(stream, all.size()) == all;
      CHECK(same);
    }
  }
}

TEST_CASE("a PNG's encoder searches matches only where strings repeat, unless a level is given") {
  const std::vector<Bytes> repetitive = {random_strings(kPartBytes, 1), random_strings(kPartBytes, 2)},
                           noisy = {noise(kPartBytes, 3, 8)};
  CHECK(coded(deflate::kAutomatic, repetitive).size() * 3 < coded(deflate::kFast, repetitive).size());
  CHECK(coded(deflate::kAutomatic, repetitive).size() <= coded(6, repetitive).size());
  CHECK(coded(deflate::kAutomatic, noisy) == coded(deflate::kFast, noisy));
  CHECK(coded(9, noisy) != coded(deflate::kFast, noisy));
  CHECK(coded(9, repetitive).size() < coded(1, repetitive).size());
}

TEST_CASE("matches reach into the previous part of a PNG's stream") {
  const Bytes first = noise(kPartBytes, 1, 256), repeated(first.end() - 9000, first.end());
  const std::size_t first_bytes = coded(6, {first}).size();
  CHECK(coded(6, {first, repeated}).size() < first_bytes + 500);
}

}  // namespace
}  // namespace sepconv
