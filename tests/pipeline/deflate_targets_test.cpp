#include <catch2/catch.hpp>
#include <cstring>
#include <random>

#include "io/deflate/raster_coder.hpp"
#include "io/png/png_filters.hpp"
#include "io/tiff/predictor_inverse.hpp"
#include "kernels/simd/targets.hpp"

namespace sepconv {
namespace {

TEST_CASE("Every set of instructions writes the same deflate stream and the same rows of PNG") {
  std::mt19937_64 random(1);
  std::geometric_distribution<int> magnitude(0.2);
  std::vector<std::byte> bytes(150'007);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = i % 9000 > 7000 && i > 512
                   ? bytes[i - (i % 2 == 0 ? 3 : 512)]
                   : static_cast<std::byte>((random() & 1) != 0 ? magnitude(random) : -magnitude(random));
  std::vector<std::byte> first;
  for (const std::string& target : simd_targets()) {
    CAPTURE(target);
    force_simd_target(target);
    deflate::RasterCoder coder;
    std::vector<std::byte> stream(
        static_cast<std::size_t>(deflate::RasterCoder::max_bytes(std::ssize(bytes))));
    stream.resize(static_cast<std::size_t>(coder.encode(bytes, {3, 512}, stream)));
    PngFilters filters(3000, 3);
    for (std::size_t row = 0; row < 50; ++row) {
      std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(3000 * row), 3000, filters.row());
      stream.resize(stream.size() + 3001);
      filters.filter_to(stream.data() + stream.size() - 3001);
    }
    if (first.empty()) first = stream;
    const bool same = stream == first;
    CHECK(same);
  }
  force_simd_target("");
  CHECK(!first.empty());
}

TEST_CASE("Every set of instructions sums differences up as a loop does") {
  std::mt19937_64 random(2);
  const std::string target = GENERATE(from_range(simd_targets()));
  force_simd_target(target);
  for (const std::int64_t width : {1, 2, 4, 8}) {
    for (const std::int64_t step : {1, 2, 3, 4, 5, 8}) {
      for (const std::int64_t count : {0, 1, 2, 3, 4, 7, 15, 16, 17, 33, 130, 301}) {
        CAPTURE(target, width, step, count);
        std::vector<std::byte> words(static_cast<std::size_t>(width * count));
        for (std::byte& byte : words) byte = static_cast<std::byte>(random());
        std::vector<std::byte> expected = words;
        const auto at = [&](std::int64_t i) {
          std::uint64_t word = 0;
          std::memcpy(&word, expected.data() + i * width, static_cast<std::size_t>(width));
          return word;
        };
        for (std::int64_t i = step; i < count; ++i) {
          const std::uint64_t sum = at(i) + at(i - step);
          std::memcpy(expected.data() + i * width, &sum, static_cast<std::size_t>(width));
        }
        prefix_sum(words.data(), width, count, step);
        const bool same = words == expected;
        CHECK(same);
      }
    }
  }
  force_simd_target("");
}

}  // namespace
}  // namespace sepconv
