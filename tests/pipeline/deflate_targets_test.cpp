#include <catch2/catch.hpp>
#include <random>

#include "sepconv/io/deflate/raster_coder.hpp"
#include "sepconv/io/png/png_filters.hpp"
#include "sepconv/kernels/simd/targets.hpp"

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

}  // namespace
}  // namespace sepconv
