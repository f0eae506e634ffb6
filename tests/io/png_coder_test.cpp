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
constexpr std::int64_t kPart = 100 * 1001;

/// What no predictor guesses and a search finds: words of a few at any place.
Bytes words(std::size_t size, unsigned seed) {
  std::mt19937 random(seed), of_word;
  Bytes bytes;
  while (bytes.size() < size) {
    of_word.seed(random() % 16);
    for (std::size_t i = 0; i < 60; ++i) bytes.push_back(static_cast<std::byte>(of_word() >> 8 & 15));
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
  PngCoder coder(level, kPart);
  Bytes stream;
  for (const Bytes& part : parts) {
    const std::span<const std::byte> bytes = coder.code(part, kRaster, &part == &parts.back());
    stream.insert(stream.end(), bytes.begin(), bytes.end());
  }
  return stream;
}

/// By zlib, whose checksum of the whole must be right.
Bytes inflated(const Bytes& stream, std::size_t size) {
  Bytes out(size + 1);
  uLongf length = out.size();
  REQUIRE(uncompress(reinterpret_cast<Bytef*>(out.data()), &length,
                     reinterpret_cast<const Bytef*>(stream.data()), stream.size()) == Z_OK);
  out.resize(length);
  return out;
}

Bytes joined(const std::vector<Bytes>& parts) {
  Bytes all;
  for (const Bytes& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

TEST_CASE("the parts of a PNG's stream are one stream, whichever of two coders made each") {
  constexpr std::size_t kWhole = kPart;
  const std::vector<std::vector<Bytes>> images = {
      {words(kWhole, 1), noise(kWhole, 2, 256), words(kWhole, 3), noise(kWhole, 4, 5), words(31, 5)},
      {noise(kWhole, 6, 3), words(kWhole, 7), words(kWhole, 8)},
      {Bytes(kWhole), noise(1, 9, 256)},
      {words(7, 10)},
  };
  for (const int level : {deflate::kFast, deflate::kAutomatic, 1, 6, kMaxPngLevel}) {
    for (const std::vector<Bytes>& parts : images) {
      CAPTURE(level, parts.size());
      const Bytes all = joined(parts), stream = coded(level, parts);
      const bool same = inflated(stream, all.size()) == all;
      CHECK(same);
    }
  }
}

TEST_CASE("a PNG's coder searches where strings repeat, and only there unless it is told to") {
  const std::vector<Bytes> drawn = {words(kPart, 1), words(kPart, 2)}, grain = {noise(kPart, 3, 8)};
  CHECK(coded(deflate::kAutomatic, drawn).size() * 3 < coded(deflate::kFast, drawn).size());
  CHECK(coded(deflate::kAutomatic, drawn).size() <= coded(6, drawn).size());
  CHECK(coded(deflate::kAutomatic, grain) == coded(deflate::kFast, grain));
  CHECK(coded(9, grain) != coded(deflate::kFast, grain));
  CHECK(coded(9, drawn).size() < coded(1, drawn).size());
}

TEST_CASE("a string of a PNG's part is found in the part before, whoever coded that") {
  const Bytes first = noise(kPart, 1, 256), again(first.end() - 9000, first.end());
  const std::size_t alone = coded(6, {first}).size();
  CHECK(coded(6, {first, again}).size() < alone + 500);
}

}  // namespace
}  // namespace sepconv
