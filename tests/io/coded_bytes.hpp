// Input bytes for tests of image codecs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <random>
#include <utility>
#include <vector>

#include "core/deflate/matches.hpp"

namespace sepconv::coded_bytes {

using Bytes = std::vector<std::byte>;
using Random = std::mt19937_64;

/// Two-sided geometric noise of mean magnitude `spread`, like a predictor's residuals.
inline Bytes noise(std::size_t size, double spread, Random& random) {
  std::geometric_distribution<int> magnitude(std::min(1 / (1 + spread), 0.999999));
  Bytes bytes(size);
  for (std::byte& byte : bytes)
    byte = static_cast<std::byte>((random() & 1) != 0 ? magnitude(random) : -magnitude(random));
  return bytes;
}

/// Values with Fibonacci frequencies, which give the deepest possible Huffman code.
inline Bytes skewed() {
  Bytes bytes;
  std::size_t count = 1, previous = 1;
  for (int value = 0; value < 22; ++value) {
    bytes.insert(bytes.end(), count, static_cast<std::byte>(11 * value));
    previous = std::exchange(count, count + previous);
  }
  std::shuffle(bytes.begin(), bytes.end(), Random(7));
  return bytes;
}

/// Noise with repeats of the row above and of the previous pixel, and with zeros.
inline Bytes mixture(std::size_t size, deflate::MatchDistances raster, Random& random) {
  Bytes bytes = noise(size, 3, random);
  for (std::size_t at = 0; at < size; at += random() % 700) {
    const std::size_t length = std::min<std::size_t>(random() % 600, size - at);
    const auto distance = static_cast<std::size_t>(random() % 2 == 0 ? raster.pixel_bytes : raster.row_bytes);
    for (std::size_t i = at; i < at + length; ++i)
      bytes[i] = i < distance ? std::byte{} : bytes[i - distance];
  }
  return bytes;
}

/// Calls check(bytes, raster) with many kinds of bytes, in sizes around those of SIMD vectors and blocks.
template <class Check>
void for_many_bytes(const Check& check) {
  constexpr std::size_t kSizes[] = {0,     1,     2,     5,      7,      8,      9,     63,
                                    64,    65,    127,   128,    129,    256,    258,   1023,
                                    1024,  4097,  16383, 16384,  65279,  65280,  65281, 65344,
                                    65535, 65536, 65537, 130559, 130561, 131072, 200000};
  constexpr deflate::MatchDistances kRasters[] = {{1, 61},     {2, 512}, {3, 300},       {8, 32768},
                                                  {16, 40000}, {1, 1},   {40000, 80000}, {1, 0}};
  Random random(1);
  for (const std::size_t size : kSizes) {
    for (const double spread : {0.0, 0.02, 0.4, 3.0, 40.0, 4000.0})
      check(noise(size, spread, random), {1, 256});
    for (const deflate::MatchDistances& raster : kRasters) check(mixture(size, raster, random), raster);
  }
  check(skewed(), {1, 100});
}

}  // namespace sepconv::coded_bytes
